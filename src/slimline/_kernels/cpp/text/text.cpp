#include "text/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>
#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#include <stdlib.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace slimline {
namespace {

inline bool digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
inline char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }

bool same_word(const char* begin, const char* end, const char* word) {
  for (; begin < end && *word; begin++, word++)
    if (lower(*begin) != *word) return false;
  return begin == end && !*word;
}

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Text that has been found to be an unsigned decimal number; `leading` is the power of ten of its first digit that is not 0.
double exactly(const char* begin, const char* end, int64_t leading) {
  double value = 0;
#if defined(__cpp_lib_to_chars)
  if (std::from_chars(begin, end, value).ec == std::errc::result_out_of_range)
    value = leading > 0 ? std::numeric_limits<double>::infinity() : 0.0;
#else
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);  // a comma may be the point of the user's own
  value = strtod_l(std::string(begin, end).c_str(), nullptr, plain);
  (void)leading;
#endif
  return value;
}

// Reads the longest decimal number from p on; returns where it ends, or null where there is none.
inline const char* read_number(const char* p, const char* end, double& value) {
  if (p == end) return nullptr;
  const bool negative = *p == '-';
  if (negative || *p == '+') p++;
  const char* const first = p;
  uint64_t digits = 0;
  while (p < end && digit(*p)) digits = digits * 10 + uint64_t(*p++ - '0');  // wraps if there are many; see below
  int64_t count = p - first, scale = 0;
  if (p < end && *p == '.') {
    const char* const fraction = ++p;
    while (p < end && digit(*p)) digits = digits * 10 + uint64_t(*p++ - '0');
    scale = fraction - p;
    count -= scale;
  }
  if (count == 0) return nullptr;
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    const bool below = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !digit(*p)) return nullptr;
    int64_t exponent = 0;
    while (p < end && digit(*p)) exponent = std::min<int64_t>(exponent * 10 + (*p++ - '0'), int64_t(1) << 40);
    scale += below ? -exponent : exponent;
  }
  // Clinger: a whole number up to 2^53, times or divided by a power of ten that is a double, is rounded once.
  if (count <= 19 && digits <= uint64_t(1) << 53 && scale >= -22 && scale <= 22) {
    value = scale < 0 ? double(digits) / powers[-scale] : scale ? double(digits) * powers[scale] : double(digits);
  } else {
    int64_t leading = count - 1 + scale;
    for (const char* c = first; c < p && (*c == '0' || *c == '.'); c++) leading -= *c == '0';
    value = exactly(first, p, leading);
  }
  if (negative) value = -value;
  return p;
}

}  // namespace

bool number_of(const char* begin, const char* end, double& value) {
  const char* p = read_number(begin, end, value);
  if (p) return p == end;
  if (begin == end) return false;
  p = begin + (*begin == '-' || *begin == '+');
  if (same_word(p, end, "nan")) value = std::numeric_limits<double>::quiet_NaN();
  else if (same_word(p, end, "inf") || same_word(p, end, "infinity")) value = std::numeric_limits<double>::infinity();
  else return false;
  if (*begin == '-') value = -value;
  return true;
}

// svmlight ------------------------------------------------------------------------------------------

namespace {

constexpr int64_t most_index = int64_t(1) << 62;

struct LineOf {  // one line of the text, without its end and its comment
  const char *begin, *end, *next;
};

inline LineOf line_at(const char* p, const char* end) {
  const char* stop = static_cast<const char*>(memchr(p, '\n', size_t(end - p)));
  const char* next = stop ? stop + 1 : end;
  if (!stop) stop = end;
  return {p, stop, next};
}

inline const char* token_end(const char* p, const char* end) {
  while (p < end && !blank(*p)) p++;
  return p;
}

template <class Index> bool sort_row(Index* indices, double* values, size_t count, int64_t& twice) {
  std::vector<std::pair<Index, double>> pairs(count);
  for (size_t i = 0; i < count; i++) pairs[i] = {indices[i], values[i]};
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < count; i++) {
    indices[i] = pairs[i].first, values[i] = pairs[i].second;
    if (i && indices[i] == indices[i - 1]) return twice = int64_t(indices[i]), false;
  }
  return true;
}

std::string shown(const char* begin, const char* end) {  // a piece of the text for a message: short, and printable
  std::string text = "'";
  for (const char* p = begin; p < end && p < begin + 40; p++) {
    const unsigned char c = static_cast<unsigned char>(*p);
    if (c >= 32 && c < 127) text += *p;
    else {
      const char* hex = "0123456789abcdef";
      text += std::string("\\x") + hex[c >> 4] + hex[c & 15];
    }
  }
  return text + (end - begin > 40 ? "…'" : "'");
}

bool whole_number(const char* p, const char* end) {
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p == end) return false;
  while (p < end && digit(*p)) p++;
  return p == end;
}

}  // namespace

template <class Index> ParsedText parse_svmlight(const char* begin, const char* end, const SvmlightRows<Index>& out) {
  ParsedText done;
  const int64_t room = std::min<int64_t>(most_index, int64_t(std::numeric_limits<Index>::max()));
  auto refuse = [&](const char* where, std::string why) {
    done.problem = std::move(why);
    done.place = size_t(where - begin);
    return done;
  };
  out.pointer[0] = 0;
  for (const char* text = begin; text < end && done.rows < out.most_rows;) {
    LineOf line = line_at(text, end);
    const char* p = line.begin;
    const char* stop = line.end;
    if (const void* hash = memchr(p, '#', size_t(stop - p))) stop = static_cast<const char*>(hash);
    while (p < stop && blank(*p)) p++;
    if (p < stop) {
      const char* q = token_end(p, stop);
      if (!number_of(p, q, out.labels[done.rows])) {
        if (memchr(p, ':', size_t(q - p))) return refuse(p, "the row has no label: it begins with " + shown(p, q));
        if (memchr(p, ',', size_t(q - p))) return refuse(p, "several labels in one row, " + shown(p, q) + ", which is not supported: keep one");
        return refuse(p, "the label is not a number: " + shown(p, q));
      }
      size_t at = done.values;
      int64_t previous = -1;
      bool sorted = true, first = true;
      for (p = q;; p = q) {
        while (p < stop && blank(*p)) p++;
        if (p == stop) break;
        q = p;
        uint64_t index = 0;
        while (q < stop && digit(*q)) index = index * 10 + uint64_t(*q++ - '0');
        if (q == p || q == stop || *q != ':') {
          q = token_end(p, stop);
          const bool query = q - p > 4 && memcmp(p, "qid:", 4) == 0;
          if (!query) return refuse(p, "expected index:value, found " + shown(p, q));
          if (!first) return refuse(p, "qid must stand before all features: " + shown(p, q));
          if (!whole_number(p + 4, q)) return refuse(p, "the query number is not a whole number: " + shown(p, q));
          first = false;
          continue;
        }
        first = false;
        const char* const value = q + 1;
        if (q - p > 18 || int64_t(index) - out.base >= room) return refuse(p, "the index is too large: " + shown(p, q));
        if (int64_t(index) < out.base) return refuse(p, "index 0, although the first feature is said to have index 1: open it with zero_based=True");
        if (at == out.most_values) {
          done.row_too_long = done.rows == 0;
          return done;
        }
        q = read_number(value, stop, out.values[at]);
        if (!q || (q < stop && !blank(*q))) {  // inf, nan, or none at all
          q = token_end(value, stop);
          if (!number_of(value, q, out.values[at])) return refuse(value, "the value is not a number: " + shown(value, q));
        }
        const int64_t i = int64_t(index);
        if (i == previous) return refuse(p, "index " + std::to_string(i) + " comes twice in one row");
        if (i < previous) sorted = false;
        previous = i;
        if (done.smallest < 0 || i < done.smallest) done.smallest = i;
        if (i > done.largest) done.largest = i, done.largest_line = int64_t(done.lines);
        out.indices[at++] = Index(i - out.base);
      }
      int64_t twice = 0;
      if (!sorted && !sort_row(out.indices + done.values, out.values + done.values, at - done.values, twice))
        return refuse(line.begin, "index " + std::to_string(twice + out.base) + " comes twice in one row");
      done.values = at;
      out.pointer[++done.rows] = int64_t(at);
    }
    done.lines++;
    text = line.next;
    done.consumed = size_t(text - begin);
  }
  return done;
}

template ParsedText parse_svmlight(const char*, const char*, const SvmlightRows<int32_t>&);
template ParsedText parse_svmlight(const char*, const char*, const SvmlightRows<int64_t>&);

// Cells ---------------------------------------------------------------------------------------------

namespace {

struct Cell {
  const char *begin, *end;  // what it holds, without blanks and quotes around it
  bool quoted;
};

// Reads one cell from p on, up to its delimiter or the end of the line; returns where it stopped, or null where a quote is amiss.
inline const char* read_cell(const char* p, const char* end, char delimiter, Cell& cell) {
  const bool gaps = delimiter == ' ';
  while (p < end && (*p == ' ' || (*p == '\t' && delimiter != '\t'))) p++;
  if (p < end && *p == '"') {
    cell.begin = ++p;
    for (;; p += 2) {  // a quote in a quoted text stands twice
      p = static_cast<const char*>(memchr(p, '"', size_t(end - p)));
      if (!p) return nullptr;
      if (p + 1 == end || p[1] != '"') break;
    }
    cell.end = p++;
    cell.quoted = true;
    if (!gaps)
      while (p < end && *p == ' ') p++;
    if (p < end && *p != delimiter && !(gaps && *p == '\t')) return nullptr;
    return p;
  }
  cell.begin = p;
  cell.quoted = false;
  if (gaps)
    while (p < end && *p != ' ' && *p != '\t') p++;
  else
    while (p < end && *p != delimiter) p++;
  cell.end = p;
  while (cell.end > cell.begin && (cell.end[-1] == ' ' || cell.end[-1] == '\t')) cell.end--;
  return p;
}

// The line without the blanks that do not count; empty if there is nothing in it.
inline LineOf cells_at(const char* p, const char* end, char delimiter) {
  LineOf line = line_at(p, end);
  if (line.end > line.begin && line.end[-1] == '\r') line.end--;
  const char* some = line.begin;
  while (some < line.end && (*some == ' ' || (*some == '\t' && delimiter != '\t'))) some++;
  if (some == line.end) line.begin = line.end;  // nothing but blanks
  if (delimiter == ' ') {
    line.begin = some;
    while (line.end > line.begin && (line.end[-1] == ' ' || line.end[-1] == '\t')) line.end--;
  }
  return line;
}

// From the end of a cell to the beginning of the next; null after the last.
inline const char* next_cell(const char* p, const char* end, char delimiter) {
  if (p == end) return nullptr;
  p++;
  if (delimiter == ' ')
    while (p < end && (*p == ' ' || *p == '\t')) p++;
  return p;
}

struct Missing {
  const std::vector<std::string>& words;
  bool numbers = false;  // whether one of them could be taken for a number

  explicit Missing(const std::vector<std::string>& list) : words(list) {
    double value;
    for (const auto& word : words) numbers = numbers || read_number(word.data(), word.data() + word.size(), value);
  }
  bool has(const Cell& cell) const {
    const std::string_view text(cell.begin, size_t(cell.end - cell.begin));
    for (const auto& word : words)
      if (text == word) return true;
    return false;
  }
};

}  // namespace

template <class T> ParsedText parse_cells(const char* begin, const char* end, const CellRows<T>& out) {
  ParsedText done;
  const Missing missing(*out.missing);
  const bool plain = !missing.numbers;  // what looks like a number is one
  auto refuse = [&](const char* where, int64_t cell, std::string why) {
    done.problem = std::move(why);
    done.place = size_t(where - begin);
    done.cell = cell;
    return done;
  };
  for (const char* text = begin; text < end && done.rows < out.most_rows;) {
    const LineOf line = cells_at(text, end, out.delimiter);
    if (line.begin < line.end) {
      T* to = out.values + done.rows * out.features;
      int64_t* place = out.places + done.rows * out.texts * 2;
      size_t number = 0;
      for (const char* p = line.begin; p; number++) {
        if (number == out.cells) return refuse(p, int64_t(number), "the row has more than " + std::to_string(out.cells) + " cells");
        if (plain && out.roles[number] == Role::feature) {
          double value;
          const char* const stop = read_number(p, line.end, value);
          if (stop && (stop == line.end || *stop == out.delimiter)) {
            *to++ = T(value);
            p = next_cell(stop, line.end, out.delimiter);
            continue;
          }
        }
        Cell cell;
        const char* const stop = read_cell(p, line.end, out.delimiter, cell);
        if (!stop) return refuse(p, int64_t(number), "a quote is not closed at the end of its cell");
        if (out.roles[number] == Role::feature) {
          double value;
          if ((missing.numbers && missing.has(cell)) || !number_of(cell.begin, cell.end, value)) {
            if (!missing.has(cell)) return refuse(cell.begin, int64_t(number), "not a number: " + shown(cell.begin, cell.end));
            value = std::numeric_limits<double>::quiet_NaN();
          }
          *to++ = T(value);
        } else if (out.roles[number] == Role::text) {
          *place++ = cell.begin - begin - cell.quoted;  // the quote tells that others in it stand twice
          *place++ = cell.end - begin + cell.quoted;
        }
        p = next_cell(stop, line.end, out.delimiter);
      }
      if (number < out.cells)
        return refuse(line.end, int64_t(number), "the row has " + std::to_string(number) + " cells instead of " + std::to_string(out.cells));
      done.rows++;
    }
    done.lines++;
    text = line.next;
    done.consumed = size_t(text - begin);
  }
  done.values = done.rows * out.features;
  return done;
}

template ParsedText parse_cells(const char*, const char*, const CellRows<double>&);
template ParsedText parse_cells(const char*, const char*, const CellRows<float>&);

ParsedText split_cells(const char* begin, const char* end, char delimiter, std::vector<int64_t>& places) {
  ParsedText done;
  const LineOf line = cells_at(begin, end, delimiter);
  int64_t number = 0;
  for (const char* p = line.begin < line.end ? line.begin : nullptr; p; number++) {
    Cell cell;
    const char* const stop = read_cell(p, line.end, delimiter, cell);
    if (!stop) {
      done.problem = "a quote is not closed at the end of its cell";
      done.place = size_t(p - begin);
      done.cell = number;
      return done;
    }
    places.push_back(cell.begin - begin - cell.quoted);
    places.push_back(cell.end - begin + cell.quoted);
    p = next_cell(stop, line.end, delimiter);
  }
  done.consumed = size_t(line.next - begin);
  done.lines = 1;
  return done;
}

}  // namespace slimline
