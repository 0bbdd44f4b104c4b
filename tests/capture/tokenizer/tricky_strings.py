# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
"""Strings that tokenizers get wrong. Shared by make_fixtures.py and cli_test.py."""

WHITESPACE = [
    "", " ", "  ", "   ", " " * 7, " " * 16, " " * 65, "\t", "\t\t", " \t ", "\n", "\n\n", "\n\n\n", "\r", "\r\n",
    "\r\r", "\n\r", "\r\n\r\n", "\r\n\n\r", " \n", "\n ", "  \n  ", "a\n", "\na", "a\r\nb", "a\rb", "a \n b", "a  \n\n  b",
    "a  b", "a   b", " a", "  a", "a ", "a  ", "\ta\tb", "a\t\tb", "if x:\n        y = 1\n\n\n    z", "x\u00a0y", "\u00a0",
    "x\u00a0\u00a0 y", "\u2003\u2003x", "\u3000全角\u3000空白", "a\u2028b\u2029c", "\u0085x", "a\u1680b", "\u180ex \u180e",
    "a\u200bb", "\ufeffbom", "a\u202fb \u205fc", "\x0b\x0c", " \x0b\x0c x", "tail   \n", "\n   tail", "a\n\n\nb\n\n \nc",
]
DIGITS = [
    "0", "7", "42", "123", "1234", "12345", "1234567890", "3.14159", "1,000,000", "0x1F4A9", "1e-05", "2026-11-30", "12:34:56",
    "a1b2c3", "v1.2.3", "10 20 30", " 10", "  10", "1 2", "99%", "$1.50", "½", "¼½¾", "²³", "x²", "Ⅷ", "ⅷⅸ", "①②③", "٣٤٥",
    "०१२३", "１２３４", "𝟙𝟚𝟛", "૧૨૩", "1st 2nd 3rd", "1\u0301", "5️⃣", "100000000000000000000000",
]
CONTRACTIONS = [
    "I'm", "I'M", "you're", "YOU'RE", "we've", "it's", "IT'S", "can't", "CAN'T", "she'll", "he'd", "'s", "'S", "''s", "s's",
    "'tis", "rock 'n' roll", "o'clock", "'", "''", "'''", "I’m", "don’t", "'re", "'Re", "'rE", "x'll y", "'ſ", "a'ſb", "'l",
    "'LL", "'Ve", "'T", "we'd've", "'dx", "'k", "'K", "d'accord", "l'été", "'m'm'm",
]
SCRIPTS = [
    "Das Gitter läuft über das andere", "où est la première différence ?", "¿Dónde está?", "Где же она?", "Ελληνικά κείμενο",
    "和第二个模型", "並べて見る", "東京都に行きました。", "你好，世界！", "한국어 텍스트입니다", "안녕하세요 세계", "النموذج الأول",
    "مرحبا بالعالم، كيف الحال؟", "שלום עולם", "नमस्ते दुनिया", "क्षत्रिय", "हिन्दी में लिखा हुआ", "สวัสดีชาวโลก", "ভাষা বাংলা", "தமிழ் மொழி",
    "ಕನ್ನಡ", "ქართული ენა", "Հայերեն", "አማርኛ", "ខ្មែរ", "မြန်မာ", "Ελλάδα123abc", "русский1русский", "ไทย๑๒๓", "Tiếng Việt có dấu",
    "İstanbul ıspanak", "Straße ẞ", "ﬁ ligature ﬃ", "ǅ ǆ Ǆ", "ʰ modifier", "ªº", "漢字かなカナ混じり文", "ｶﾀｶﾅ", "𠀀𠀁 rare han", "𐍈𐌰 gothic",
    "क़ ख़", "ༀ་བོད", "ᠮᠣᠩᠭᠣᠯ", "نص‌با نیم‌فاصله", "\u202eright to left\u202c", "لا إله", "ـــ", "ǰ", "Å",
]
MARKS = [
    "e\u0301", "é", "e\u0301e\u0301", "a\u0300\u0301\u0302", "\u0301", "\u0301a", " \u0301", "o\u0308\u0304", "n\u0303o", "ş s\u0327",
    "q\u0323\u0307 q\u0307\u0323", "Zalgo: z\u0351\u0306\u034aa\u0335l\u0334", "\u1112\u1161\u11ab", "\uac00\u11a8", "a\u0345", "\u0958",
    "क\u093c", "\u212b \u2126 \u212a", "가\u0301", "x\u20d7", "\u0344", "1\u0338",
]
EMOJI = [
    "🙂", "🙂🙂", "a🙂b", " 🙂 ", "👩‍👩‍👧‍👦", "👍🏽", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️", "❤", "👨🏿‍💻 codes", "🫠🫡", "☺︎", "⌚️12", "🤷🏻‍♀️!", "🧑‍🚀🚀", "©®™", "♠♣♥♦",
]
SYMBOLS = [
    "!", "!!", "...", "…", "--", "—", "a-b_c", "foo_bar_baz", "__init__", "C++", "C#", "x+=1;", "a && b || !c", "{[(<>)]}", "// comment",
    "/* block */", "#include <vector>", "def f(x):\n    return x**2\n", "for (int i = 0; i < 10; ++i) {\n\tsum += a[i];\n}\n", "\\n\\t\\\\",
    "https://example.org/a?b=c&d=%20#e", "me@example.org", "~/.config", "$HOME", "100€", "£5", "¥", "₹ 50", "±≤≥≠≈", "∑∫√∞", "→←↔", "αβγ=δ",
    "“quoted” ‘text’", "«guillemets»", "¡¿", "。、「」", "؟،؛", "\"json\": {\"k\": [1, 2.5, null]}", "a\nb!\n\nc?!\r\n", "!\n", "! \n", ".\r\n\r\n.", " !",
    "  !!", "x\n!", "%%%", "^^^", "```python\nprint(1)\n```", "<b>bold</b>", "a/b\\c", "|---|", "•\titem", "(", ")) ", "=====", "\u00ad soft\u00adhyphen",
]
CONTROL = [
    "\x00", "a\x00b", "\x01\x02\x03", "\x1b[31mred\x1b[0m", "\x7f", "\x80\x9f", "\u0000\u0000", "\u200e\u200f", "\u2066iso\u2069", "\ufffd",
    "\ufffe", "\uffff", "\ue000", "\U000f0000", "\U0010ffff", "\u0378", "\x1c\x1d\x1e\x1f", "a\x1fb",
]
WORDS = [
    "antidisestablishmentarianism", "Donaudampfschifffahrtsgesellschaftskapitän", "CamelCaseWordsLikeThis", "SCREAMING_SNAKE_CASE",
    "pneumonoultramicroscopicsilicovolcanoconiosis", "a" * 300, "ab" * 200, "the" * 100, "é" * 150, "漢" * 120, "x" * 5000, "0" * 400,
    "!" * 300, "🙂" * 60, " the" * 50, "mississippi" * 20, "lololololololololololol", "aaaa bbbb aaaa", "ThE qUiCk BrOwN", "iPhone13Pro",
    "The capital of France is", "Once upon a time, in a small village", "def fibonacci(n):\n", "a  1", "Hello, World!",
]
ADDED = [
    "<|im_start|>", "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", "<|endoftext|>", "a<|endoftext|>b", " <|endoftext|> ",
    "<|endoftext|><|endoftext|>", "<|im_start|", "<|im_start|><", "<<|im_end|>>", "<|IM_START|>", "<| im_start |>", "text\n\n<|im_end|>  more",
    "<|begin_of_text|>", "12<|im_end|>34", "é<|im_start|>e\u0301", "<|im_start|>\x00<|im_end|>", "<|endoftext|>'s", "  <|im_end|>  ",
    "<|reserved_7|>", "x <mask> y", "x<mask>y", "x  <mask>  y", "MARK", "xMARKy", "x MARK y", "(MARK)", "éMARK", "_MARK", "MARK1", "MARKMARK",
    "MARKMARKED", "<strip>", "a  <strip>  b", "a \n\t<strip>\u3000\u00a0b", "<strip> <strip>", "a<strip>b", "caf\u00e9!", "cafe\u0301!",
    "x cafe\u0301! y", "<mask><mask>  <mask>", "  <mask>", "<a>", "<a><ab>", "<abc>", "<ab", "①MARK", "\u200dMARK", "MARK\u0301",
    "<s>", "</s>", "<s>a</s> b", "a <s>", "<s> <s>", "x </s>y", "\u2581a", "a\u2581 b", "<0x41>", "a <0x0A> b",
]
STRINGS = list(dict.fromkeys(
    WHITESPACE + DIGITS + CONTRACTIONS + SCRIPTS + MARKS + EMOJI + SYMBOLS + CONTROL + WORDS + ADDED))

# Bytes that are not UTF-8 must give what their replacement by U+FFFD gives.
BYTES = [
    b"\xff", b"a\xffb", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x82x", b"\xf0\x9f\x99", b"\xf0\x9f\x99 \x82", b"\xc0\xaf", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\x80\x80", b"caf\xe9 au lait", b"\xf0\x28\x8c\xbc", b"<|im_start|>\xff<|im_end|>", b"\xfe\xff\x00a",
]
