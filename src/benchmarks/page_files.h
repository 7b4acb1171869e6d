// The pages of reports as they ship, below web/, and what they have in common with the page of the service: its colours
// (theme.css) and its look (look.css).
//
//     fill_page("tables.html", {{"@TITLE@", title}, {"@STYLE@", page_style()}, {"@BODY@", body}});
//
// Thread safety: all functions are pure.
#ifndef METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_
#define METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::benchmarks {

// One of them; std::logic_error if it is not there.
std::string_view page_file(std::string_view name);

// Style sheets, in the order in which they apply.
std::string page_style();

// The page with texts in the places of their names, which stand in it in this order; std::logic_error if one does not.
// What a text says is not looked at.
std::string fill_page(std::string_view name, const std::vector<std::pair<std::string_view, std::string>>& texts);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_PAGE_FILES_H_
