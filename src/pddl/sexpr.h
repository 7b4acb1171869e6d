// The outer shape of a PDDL file: names and nested lists, each with its place in the text.
//
//     SExprTree tree = read_sexpr(0, "(define (domain d))", reporter);
//     if (std::optional<SExpr> root = tree.root()) root->head();  // "define"
//
// Names are lower-cased (ASCII letters), since PDDL does not tell cases apart; letters outside ASCII are part of names
// and kept. A name ends before a '?', which begins a variable. `;` starts a comment; line ends may be LF, CRLF or CR; a
// UTF-8 byte order mark is skipped, U+00A0 is a blank, and what follows the one definition of a file is left out with
// a warning. Columns count bytes from 1. Reading is linear in the length of the text, uses no recursion, and costs 20
// bytes per name or list besides one copy of the text.
#ifndef METACTRL_SRC_PDDL_SEXPR_H_
#define METACTRL_SRC_PDDL_SEXPR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/ast.h"
#include "pddl/report.h"

namespace metactrl::pddl {

class SExprTree;

// A name or a list in a tree. Cheap to copy; valid as long as the tree stays where it is.
class SExpr {
 public:
  bool is_list() const;
  bool is_name() const { return !is_list(); }
  // The name; empty for a list.
  std::string_view text() const;
  Position where() const;
  bool same_as(SExpr other) const { return tree_ == other.tree_ && index_ == other.index_; }

  // The members of a list; a name has none.
  std::size_t size() const;
  SExpr operator[](std::size_t index) const;
  // The first member when it is a name, else empty: "and" for (and ...).
  std::string_view head() const;

  // Of a name: what follows its first character, a name like any other.
  SExpr without_first() const {
    SExpr out = *this;
    ++out.skipped_;
    return out;
  }

  // The source with single blanks and no comments, cut after about `limit` characters.
  std::string to_text(std::size_t limit) const;

 private:
  friend class SExprTree;
  SExpr(const SExprTree* tree, std::uint32_t index) : tree_(tree), index_(index) {}

  const SExprTree* tree_;
  std::uint32_t index_;
  std::uint32_t skipped_ = 0;  // characters of a name that are left out
};

class SExprTree {
 public:
  // Deeper nesting than any PDDL in use, and shallow enough for every stack.
  static constexpr std::size_t kMaxDepth = 2000;
  static constexpr std::size_t kMaxNameLength = 1024;

  // The one list that the file consists of; nothing when the text is not one well-formed list.
  std::optional<SExpr> root() const;

 private:
  friend class SExpr;
  friend class SExprReader;

  // A name is text_[first, first + count), a list has the members nodes_[first, first + count).
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool is_list = false;
  };

  std::uint32_t file_ = 0;
  std::string text_;
  std::vector<Node> nodes_;
  bool complete_ = false;  // the root is the last node
};

// Reads one file (0: the domain, 1: the problem). Mistakes go to `reporter`, and then the tree has no root.
SExprTree read_sexpr(std::uint32_t file, std::string_view text, Reporter& reporter);

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_SEXPR_H_
