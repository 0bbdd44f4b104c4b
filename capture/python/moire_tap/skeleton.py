# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""The HDF5 side of a capture: its datasets, made empty and made longer; no value goes through HDF5."""

import h5py
import numpy as np
from h5py import h5a, h5d, h5f, h5p, h5s, h5t

from .dtypes import DType
from .schema import ALIGNMENT, REF, RECORDS, USER_BLOCK, Enum


def _float_type(layout, size):
    exponent, mantissa, bias = layout
    kind = h5t.IEEE_F32LE.copy()
    kind.set_fields(exponent + mantissa, mantissa, exponent, 0, mantissa)
    kind.set_size(size)
    kind.set_ebias(bias)
    return kind


def _enum_type(enum):
    kind = h5t.enum_create(h5t.STD_I8LE if enum.base == "<i1" else h5t.STD_U8LE)
    for name, value in enum.members.items():
        kind.enum_insert(name.encode(), value)
    return kind


_PLAIN = {"<u1": h5t.STD_U8LE, "<u4": h5t.STD_U32LE, "<i4": h5t.STD_I32LE, "<u8": h5t.STD_U64LE,
          "<i8": h5t.STD_I64LE, "<f4": h5t.IEEE_F32LE, "<f8": h5t.IEEE_F64LE}


def _record_type(size, fields):
    kind = h5t.create(h5t.COMPOUND, size)
    for name, form, offset in fields:
        if form is REF:
            member = _record_type(16, REF)
        else:
            member = _enum_type(form) if isinstance(form, Enum) else _PLAIN[form]
        kind.insert(name.encode(), offset, member)
    return kind


def element_type(element):
    """The HDF5 type of a table's element."""
    if not isinstance(element, DType):
        return _record_type(*RECORDS[element])
    if element.name == "bool":
        return _enum_type(Enum({"FALSE": 0, "TRUE": 1}, "<i1"))
    if element.layout and element.name not in ("fp32", "fp64"):
        return _float_type(element.layout, element.size)
    plain = {"fp32": "<f4", "fp64": "<f8"}.get(element.name)
    if plain is None:
        sign = "i" if element.name.startswith("int") else "u"
        plain = f"<{sign}{element.size}"
    return {"<i1": h5t.STD_I8LE, "<i2": h5t.STD_I16LE, **_PLAIN}[plain]


def _text_attribute(owner, name, text):
    kind = h5t.C_S1.copy()
    kind.set_size(len(text))
    kind.set_cset(h5t.CSET_UTF8)
    attribute = h5a.create(owner, name, kind, h5s.create(h5s.SCALAR))
    attribute.write(np.array(text.encode()), mtype=kind)


class Skeleton:
    """The datasets of one file; tables are named by their place in the list given."""

    def __init__(self, path, tables, chunks):
        """`chunks`: records a chunk of each table."""
        self._path = str(path).encode()
        self._tables = tables
        self._chunks = chunks
        self._lengths = [0] * len(tables)
        creation = h5p.create(h5p.FILE_CREATE)
        creation.set_userblock(USER_BLOCK)
        creation.set_file_space_strategy(h5f.FSPACE_STRATEGY_FSM_AGGR, False, ALIGNMENT)
        self._file = h5f.create(self._path, h5f.ACC_TRUNC, creation, self._access())
        self._mark_format()
        self._datasets = [self._create(table, chunk) for table, chunk in zip(tables, chunks)]
        self.flush()

    def _access(self):
        access = h5p.create(h5p.FILE_ACCESS)
        access.set_libver_bounds(h5f.LIBVER_V110, h5f.LIBVER_V110)
        access.set_alignment(1, ALIGNMENT)
        # Metadata in blocks of their own, about 1 KiB a dataset, so that chunks lie one behind the other.
        access.set_meta_block_size(min(max(len(self._tables) * 1024, 4096), 1 << 20))
        access.set_file_locking(True, True)
        return access

    @staticmethod
    def _uncached():
        access = h5p.create(h5p.DATASET_ACCESS)
        access.set_chunk_cache(1, 0, 0.75)
        return access

    def _mark_format(self):
        root = h5py.h5g.open(self._file, b"/")
        _text_attribute(root, b"format", "moire")
        version = h5a.create(root, b"format_version", h5t.STD_I64LE, h5s.create(h5s.SCALAR))
        version.write(np.array(1, np.int64))

    def _create(self, table, chunk):
        width = (table.width,) if table.matrix else ()
        space = h5s.create_simple((0, *width), (h5s.UNLIMITED, *width))
        creation = h5p.create(h5p.DATASET_CREATE)
        creation.set_chunk((chunk, *width))
        creation.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        creation.set_fill_time(h5d.FILL_TIME_NEVER)
        links = h5p.create(h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        links.set_char_encoding(h5t.CSET_UTF8)
        dataset = h5d.create(self._file, table.path.encode(), element_type(table.element), space, creation, links,
                             self._uncached())
        if isinstance(table.element, DType) and table.element.name:
            _text_attribute(dataset, b"dtype", table.element.name)
        return dataset

    def start_swmr(self):
        self.flush()
        self._file.start_swmr_write()

    def extend(self, table, records):
        self._datasets[table].set_extent(self._shape(table, records))
        self._lengths[table] = records

    def _shape(self, table, records):
        return (records, self._tables[table].width) if self._tables[table].matrix else (records,)

    def chunk_address(self, table, chunk):
        offset = self._shape(table, chunk * self._chunks[table])[:1] + ((0,) if self._tables[table].matrix else ())
        return self._datasets[table].get_chunk_info_by_coord(offset).byte_offset

    def write_records(self, table, array):
        """Through HDF5: only to find out what its addresses are relative to."""
        self._datasets[table].write(h5s.ALL, h5s.ALL, array, mtype=element_type(self._tables[table].element))

    def flush(self):
        h5f.flush(self._file)

    def close(self):
        """Closes the file as it is; a second call does nothing."""
        if self._file is not None:
            self._datasets = []
            self._file.close()
            self._file = None

    def cut(self, lengths):
        """After close(): makes every table `lengths` records long."""
        self._file = h5f.open(self._path, h5f.ACC_RDWR, self._access())
        for table, (spec, records) in enumerate(zip(self._tables, lengths)):
            if records != self._lengths[table]:
                dataset = h5d.open(self._file, spec.path.encode(), self._uncached())
                dataset.set_extent(self._shape(table, records))
                del dataset
        self.close()
