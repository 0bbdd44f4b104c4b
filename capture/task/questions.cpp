// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/task/questions.h"

#include "capture/model/json_text.h"
#include "capture/task/csv.h"
#include "core/base/file.h"

#include <algorithm>
#include <map>
#include <optional>

namespace moire::capture {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t largestFile = std::size_t{1} << 28U; ///< 256 MiB

Error invalid(std::string sentence, std::string place, std::string hint)
{
    return {Errc::Invalid, std::move(sentence), std::move(place), std::move(hint)};
}

std::string lineOf(const fs::path& path, std::size_t line)
{
    return path.string() + ", line " + std::to_string(line);
}

std::string trimmed(const std::string& text)
{
    constexpr auto space = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(space);
    return begin == std::string::npos
               ? std::string()
               : text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

/// The place of an answer that is named by a letter, one of those given or A, B, …, or by a number
/// from 0.
std::optional<std::size_t> placeOf(const std::string& answer,
                                   const std::vector<std::string>& letters)
{
    const std::string name = trimmed(answer);
    const auto found = std::find(letters.begin(), letters.end(), name);
    if (found != letters.end())
        return static_cast<std::size_t>(found - letters.begin());
    if (name.size() != 1)
        return std::nullopt;
    const char c = name.front();
    if (c >= 'A' && c <= 'Z')
        return static_cast<std::size_t>(c - 'A');
    if (c >= '0' && c <= '9')
        return static_cast<std::size_t>(c - '0');
    return std::nullopt;
}

/// Which columns hold what.
struct Columns
{
    std::size_t question = 0;
    std::vector<std::size_t> choices;
    std::size_t answer = 0;
    std::optional<std::size_t> category, id;
};

constexpr auto csvForm = "A row is question, choices, answer letter; a header may name the columns "
                         "question, A, B, C, D, "
                         "answer, subject";

/// Of a file with a header.
Result<Columns> namedColumns(const CsvRow& header, const fs::path& path)
{
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < header.cells.size(); ++i)
        places.emplace(trimmed(header.cells[i]), i);
    Columns columns;
    for (const auto& [name, place] :
         {std::pair{"question", &columns.question}, {"answer", &columns.answer}}) {
        const auto found = places.find(name);
        if (found == places.end())
            return invalid(std::string("the header has no column ") + name, path.string(), csvForm);
        *place = found->second;
    }
    for (char letter = 'A'; letter <= 'Z'; ++letter) {
        const auto found = places.find(std::string(1, letter));
        if (found == places.end())
            break;
        columns.choices.push_back(found->second);
    }
    if (columns.choices.size() < 2)
        return invalid("the header has no columns A, B, …", path.string(), csvForm);
    if (const auto found = places.find("subject"); found != places.end())
        columns.category = found->second;
    if (const auto found = places.find("id"); found != places.end())
        columns.id = found->second;
    return columns;
}

Result<Columns> plainColumns(const CsvRow& first, const fs::path& path)
{
    constexpr std::size_t fewest = 4; // a question, two choices, an answer
    if (first.cells.size() < fewest)
        return invalid("has " + std::to_string(first.cells.size()) + " columns",
                       lineOf(path, first.line), csvForm);
    Columns columns;
    for (std::size_t i = 1; i + 1 < first.cells.size(); ++i)
        columns.choices.push_back(i);
    columns.answer = first.cells.size() - 1;
    return columns;
}

Result<Question> questionOf(const CsvRow& row, const Columns& columns, const std::string& category,
                            const std::vector<std::string>& letters, const fs::path& path)
{
    const auto cell = [&](std::size_t place) -> const std::string& {
        static const std::string none;
        return place < row.cells.size() ? row.cells[place] : none;
    };
    Question question;
    question.category = columns.category ? cell(*columns.category) : category;
    question.id = columns.id ? cell(*columns.id) : std::string();
    question.text = cell(columns.question);
    for (const std::size_t place : columns.choices)
        question.choices.push_back(cell(place));
    while (!question.choices.empty() && question.choices.back().empty())
        question.choices.pop_back(); // questions with fewer choices leave the last cells empty
    const std::string place = lineOf(path, row.line);
    if (question.text.empty() || question.choices.size() < 2)
        return invalid("has no question with two choices", place, csvForm);
    if (trimmed(cell(columns.answer)).empty())
        return invalid("has no answer", place, csvForm);
    const auto answer = placeOf(cell(columns.answer), letters);
    if (!answer || *answer >= question.choices.size())
        return invalid("the answer \"" + cell(columns.answer) + "\" is none of the "
                           + std::to_string(question.choices.size()) + " choices",
                       place, csvForm);
    question.answer = *answer;
    return question;
}

Result<std::vector<Question>> questionsIn(const fs::path& path, const std::string& category,
                                          const std::vector<std::string>& letters)
{
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    const auto rows = readCsv(*text, path.string());
    if (!rows)
        return rows.error();
    const Error none = invalid("the file has no question", path.string(), csvForm);
    if (rows->empty())
        return none;
    const auto& first = rows->front().cells;
    const bool named = std::any_of(first.begin(), first.end(), [](const std::string& cell) {
        return trimmed(cell) == "question";
    });
    const auto columns =
        named ? namedColumns(rows->front(), path) : plainColumns(rows->front(), path);
    if (!columns)
        return columns.error();
    std::vector<Question> questions;
    for (std::size_t i = named ? 1 : 0; i < rows->size(); ++i) {
        auto question = questionOf((*rows)[i], *columns, category, letters, path);
        if (!question)
            return question.error();
        questions.push_back(*std::move(question));
    }
    if (questions.empty())
        return none;
    return questions;
}

/// "abstract_algebra" of abstract_algebra_test.csv.
std::string categoryOf(const fs::path& path)
{
    std::string name = path.stem().string();
    for (const std::string_view end : {"_test", "_val", "_dev"})
        if (name.ends_with(end))
            name.resize(name.size() - end.size());
    return name;
}

/// The solved questions of a category, where there are any.
Result<std::vector<Question>> solvedFor(const fs::path& path,
                                        const std::vector<std::string>& letters)
{
    const std::string category = categoryOf(path);
    const std::string name = category + "_dev.csv";
    for (const fs::path& candidate :
         {path.parent_path() / name, path.parent_path().parent_path() / "dev" / name}) {
        std::error_code ignored;
        if (fs::exists(candidate, ignored))
            return questionsIn(candidate, category, letters);
    }
    return std::vector<Question>();
}

constexpr auto arcForm =
    R"(A line is {"id", "question": {"stem", "choices": [{"text", "label"}]}, "answerKey"})";

/// Texts and labels of the choices, in either form of the file.
bool readChoices(const Json& choices, Question& question, std::vector<std::string>& labels)
{
    const auto add = [&](const Json& text, const Json& label) {
        if (!text.is_string() || !label.is_string())
            return false;
        question.choices.push_back(text.get<std::string>());
        labels.push_back(label.get<std::string>());
        return true;
    };
    if (choices.is_array())
        return std::all_of(choices.begin(), choices.end(), [&](const Json& choice) {
            return choice.is_object()
                   && add(choice.value("text", Json()), choice.value("label", Json()));
        });
    if (!choices.is_object())
        return false;
    const Json texts = choices.value("text", Json());
    const Json names = choices.value("label", Json());
    if (!texts.is_array() || !names.is_array() || texts.size() != names.size())
        return false;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (!add(texts[i], names[i]))
            return false;
    return true;
}

Result<Question> arcQuestion(const Json& line, const std::string& place)
{
    if (!line.is_object())
        return invalid("the line is not an object", place, arcForm);
    Question question;
    const Json asked = line.value("question", Json());
    const Json text = asked.is_object() ? asked.value("stem", Json()) : asked;
    const Json choices =
        asked.is_object() ? asked.value("choices", Json()) : line.value("choices", Json());
    std::vector<std::string> labels;
    if (!text.is_string() || !readChoices(choices, question, labels) || labels.size() < 2)
        return invalid("the line has no question with two choices", place, arcForm);
    question.text = text.get<std::string>();
    question.category = "arc";
    if (const Json id = line.value("id", Json()); id.is_string())
        question.id = id.get<std::string>();
    const Json key = line.value("answerKey", Json());
    const auto found = key.is_string()
                           ? std::find(labels.begin(), labels.end(), key.get<std::string>())
                           : labels.end();
    if (found == labels.end())
        return invalid("the line has no \"answerKey\" that is one of its labels", place, arcForm);
    question.answer = static_cast<std::size_t>(found - labels.begin());
    return question;
}

} // namespace

Result<std::vector<QuestionSet>> readMmlu(const fs::path& path,
                                          const std::vector<std::string>& letters)
{
    std::vector<fs::path> files{path};
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
        files.clear();
        for (const auto& entry : fs::directory_iterator(path, failed))
            if (entry.path().extension() == ".csv"
                && !entry.path().stem().string().ends_with("_dev"))
                files.push_back(entry.path());
        if (failed)
            return Error{Errc::Io, "the folder cannot be read", path.string(),
                         "Check who may read it"};
        std::sort(files.begin(), files.end());
        if (files.empty())
            return Error{Errc::NotFound, "the folder has no .csv file with questions",
                         path.string(), "Give the folder of the test files, NAME_test.csv"};
    }
    std::vector<QuestionSet> sets;
    for (const fs::path& file : files) {
        auto questions = questionsIn(file, categoryOf(file), letters);
        if (!questions)
            return questions.error();
        auto solved = solvedFor(file, letters);
        if (!solved)
            return solved.error();
        sets.push_back({*std::move(questions), *std::move(solved)});
    }
    return sets;
}

Result<std::vector<QuestionSet>> readArc(const fs::path& path)
{
    constexpr int deepest = 16;
    const auto text = base::readSmallFile(path, largestFile);
    if (!text)
        return text.error();
    QuestionSet set;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        const std::string_view line = std::string_view(*text).substr(begin, end - begin);
        begin = end + 1;
        const std::string place = lineOf(path, ++number);
        if (line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const auto parsed = parseJson(line, place, deepest);
        if (!parsed)
            return invalid(parsed.error().sentence, place, arcForm);
        auto question = arcQuestion(*parsed, place);
        if (!question)
            return question.error();
        set.questions.push_back(*std::move(question));
    }
    if (set.questions.empty())
        return invalid("the file has no question", path.string(), arcForm);
    return std::vector<QuestionSet>{std::move(set)};
}

} // namespace moire::capture
