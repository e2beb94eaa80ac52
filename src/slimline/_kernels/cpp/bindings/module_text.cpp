// Bindings of the text readers: pieces of text in, numbers into arrays of the caller.
#include "bindings/modules.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arguments.hpp"
#include "text/text.hpp"
#include "bindings/without_gil.hpp"

namespace slimline {
namespace {

using Text = nb::ndarray<nb::ro, uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T> using Column = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Piece {
  const char *begin, *end;
};
Piece piece_of(const Text& text, size_t begin, size_t end) {
  if (begin > end || end > text.shape(0)) refuse("begin and end must lie in the text, in this order");
  const char* data = reinterpret_cast<const char*>(text.data());
  return {data + begin, data + end};
}

char delimiter_of(const std::string& delimiter) {
  if (delimiter.size() != 1 || delimiter == "\"" || delimiter == "\n" || delimiter == "\r") refuse("the delimiter must be one character, no quote and no end of a line");
  return delimiter[0];
}

ParsedText svmlight_rows(Text text, size_t begin, size_t end, int64_t base, Column<double> labels, Column<int64_t> pointer,
                    nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu> indices, Column<double> values) {
  const Piece piece = piece_of(text, begin, end);
  if (base != 0 && base != 1) refuse("base must be 0 or 1");
  if (labels.shape(0) < 1 || pointer.shape(0) != labels.shape(0) + 1) refuse("indptr must have one entry more than labels, of which there is one at least");
  if (indices.shape(0) != values.shape(0)) refuse("indices and values must have the same length");
  require_aligned(labels, "labels");
  require_aligned(pointer, "indptr");
  require_aligned(indices, "indices");
  require_aligned(values, "values");
  ParsedText parsed;
  by_index(Array(indices), [&](auto i) {
    using Index = decltype(i);
    const SvmlightRows<Index> rows{labels.data(), pointer.data(), static_cast<Index*>(indices.data()), values.data(), labels.shape(0), values.shape(0), base};
    without_gil([&] { parsed = parse_svmlight<Index>(piece.begin, piece.end, rows); });
  });
  return parsed;
}

ParsedText cell_rows(Text text, size_t begin, size_t end, const std::string& delimiter, nb::ndarray<nb::ro, uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> roles,
                 const std::vector<std::string>& missing, Writable values, nb::ndarray<int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> places) {
  const Piece piece = piece_of(text, begin, end);
  size_t features = 0, texts = 0;
  for (size_t i = 0; i < roles.shape(0); i++) {
    if (roles.data()[i] > 2) refuse("a role must be 0, 1 or 2");
    features += roles.data()[i] == uint8_t(Role::feature);
    texts += roles.data()[i] == uint8_t(Role::text);
  }
  if (values.ndim() != 2 || values.shape(1) != features) refuse("values must have one column for each feature");
  const size_t height = values.shape(0);
  if (places.shape(0) != height || places.shape(1) != texts || places.shape(2) != 2) refuse("places must have the shape (rows, texts, 2)");
  require_aligned(places, "places");
  const char mark = delimiter_of(delimiter);
  ParsedText parsed;
  by_result(values, [&](auto zero) {
    using T = decltype(zero);
    const Out<T> out = out_of<T>(values, height, features, false);
    if (height > 1 && out.stride != std::max<size_t>(features, 1) && features > 0) refuse("values must be C-contiguous");
    const CellRows<T> rows{reinterpret_cast<const Role*>(roles.data()), roles.shape(0), features, texts, out.data, places.data(), height, mark, &missing};
    without_gil([&] { parsed = parse_cells<T>(piece.begin, piece.end, rows); });
  });
  return parsed;
}

// The cells of one line, as (begin, end) each; a quoted one with its quotes.
nb::tuple line_cells(Text text, size_t begin, size_t end, const std::string& delimiter) {
  const Piece piece = piece_of(text, begin, end);
  std::vector<int64_t> places;
  ParsedText parsed = split_cells(piece.begin, piece.end, delimiter_of(delimiter), places);
  return nb::make_tuple(std::move(parsed), std::move(places));
}

std::optional<double> number(Text text) {
  double value = 0;
  const char* data = reinterpret_cast<const char*>(text.data());
  if (!number_of(data, data + text.shape(0), value)) return std::nullopt;
  return value;
}

}  // namespace

void bind_text(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<ParsedText>(m, "ParsedText", "What became of a piece of text.")
      .def_ro("consumed", &ParsedText::consumed, "Bytes of whole lines that are done with.")
      .def_ro("lines", &ParsedText::lines)
      .def_ro("rows", &ParsedText::rows)
      .def_ro("values", &ParsedText::values)
      .def_ro("row_too_long", &ParsedText::row_too_long, "Not even one row fits into the arrays.")
      .def_ro("smallest", &ParsedText::smallest, "Smallest index as it stands in the text, or -1.")
      .def_ro("largest", &ParsedText::largest, "Largest index as it stands in the text, or -1.")
      .def_ro("largest_line", &ParsedText::largest_line, "Where it stands, in lines from the beginning of the piece.")
      .def_ro("problem", &ParsedText::problem, "Empty, or what is wrong in the line after `lines` others.")
      .def_ro("place", &ParsedText::place, "Byte of the problem in the piece.")
      .def_ro("cell", &ParsedText::cell, "Number of the cell that is wrong, or -1.");
  m.def("parse_svmlight", &svmlight_rows, "text"_a.noconvert(), "begin"_a, "end"_a, "base"_a, "labels"_a.noconvert(), "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "Rows of svmlight text, as many as there are or as fit.");
  m.def("parse_cells", &cell_rows, "text"_a.noconvert(), "begin"_a, "end"_a, "delimiter"_a, "roles"_a.noconvert(), "missing"_a, "values"_a.noconvert(), "places"_a.noconvert(),
        "Rows of cells, as many as there are or as fit: numbers, and where the texts are.");
  m.def("line_cells", &line_cells, "text"_a.noconvert(), "begin"_a, "end"_a, "delimiter"_a, "Where the cells of the first line begin and end.");
  m.def("parse_number", &number, "text"_a.noconvert(), "The number that the text is, or None.");
}

}  // namespace slimline
