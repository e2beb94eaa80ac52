// Numbers from text: svmlight rows and rows of cells. Nothing here knows of Python or of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slimline {

// What became of a piece of text. `problem` is empty, or says what is wrong, at byte `place` of the piece,
// `lines` lines after its first; `cell` is the number of the cell in its row, from 0, or -1.
struct ParsedText {
  size_t consumed = 0;  // bytes of whole lines that are done with
  size_t lines = 0;
  size_t rows = 0;
  size_t values = 0;
  bool row_too_long = false;  // not even one row fits into what was given for the values
  int64_t smallest = -1, largest = -1, largest_line = 0;  // indices as they stand in the text; the line as in `lines`
  std::string problem;
  size_t place = 0;
  int64_t cell = -1;
};

// The number that fills [begin, end), rounded once: sign, digits, point, exponent; or inf, infinity, nan.
bool number_of(const char* begin, const char* end, double& value);

template <class Index> struct SvmlightRows {
  double* labels;
  int64_t* pointer;  // rows + 1
  Index* indices;
  double* values;
  size_t most_rows, most_values;
  int64_t base;  // 0 or 1: the index of the first feature
};

// Rows of "label [qid:n] index:value …  # comment" until the text or the room ends. Each row is sorted by index.
template <class Index> ParsedText parse_svmlight(const char* begin, const char* end, const SvmlightRows<Index>& out);

enum class Role : uint8_t { feature = 0, text = 1, skipped = 2 };

template <class T> struct CellRows {
  const Role* roles;  // one a cell
  size_t cells;
  size_t features;  // how many of the roles say so
  size_t texts;
  T* values;         // rows × features
  int64_t* places;   // rows × texts × 2: where a text begins and ends in the piece
  size_t most_rows;
  char delimiter;    // ' ': any run of spaces and tabs
  const std::vector<std::string>* missing;
};

// Rows of cells until the text or the room ends; blank lines are passed over.
template <class T> ParsedText parse_cells(const char* begin, const char* end, const CellRows<T>& out);

// Where the cells of one line begin and end, blanks and quotes around them taken off; `problem` as above.
ParsedText split_cells(const char* begin, const char* end, char delimiter, std::vector<int64_t>& places);

}  // namespace slimline
