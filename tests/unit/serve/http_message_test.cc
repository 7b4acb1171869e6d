// Requests read from bytes, in any portions; and everything that is no request.
#include "serve/http_message.h"

#include <gtest/gtest.h>

namespace metactrl::serve::http_message_test {
namespace {

constexpr HttpLimits kLimits{512, 64};

RequestReader read(const std::string& bytes, std::size_t portion = 1000) {
  RequestReader reader(kLimits);
  for (std::size_t at = 0; at < bytes.size() && !reader.done() && !reader.failure(); at += portion) {
    reader.feed(std::string_view(bytes).substr(at, portion));
  }
  return reader;
}

int status_of(const std::string& bytes) {
  const RequestReader reader = read(bytes);
  return reader.failure() ? reader.failure()->status : reader.done() ? 200 : 0;
}

TEST(HttpMessage, AnyPortions) {
  const std::string bytes =
      "POST /v1/plans?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type:  application/json \r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t portion = 1; portion < bytes.size(); ++portion) {
    RequestReader reader = read(bytes, portion);
    ASSERT_TRUE(reader.done()) << portion;
    EXPECT_EQ(reader.request().method, "POST");
    EXPECT_EQ(reader.request().path, "/v1/plans");
    EXPECT_EQ(reader.request().query, "x=1");
    EXPECT_EQ(reader.request().header("content-type"), "application/json");
    EXPECT_EQ(reader.request().body, "hello");
    EXPECT_TRUE(reader.request().keep_alive);
  }
}

TEST(HttpMessage, ChunkedBody) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n7;note=x\r\n, world\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t portion = 1; portion < bytes.size(); ++portion) {
    RequestReader reader = read(bytes, portion);
    ASSERT_TRUE(reader.done()) << portion;
    EXPECT_EQ(reader.request().body, "hello, world");
  }
}

TEST(HttpMessage, TakesOneRequestAtATime) {
  const std::string one = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestReader reader(kLimits);
  EXPECT_EQ(reader.feed(one + one), one.size());
  EXPECT_TRUE(reader.done());
}

TEST(HttpMessage, KeepAlive) {
  EXPECT_FALSE(read("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, Close\r\n\r\n").request().keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\n\r\n").request().keep_alive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").request().keep_alive);
}

TEST(HttpMessage, ContinueIsWantedBetweenHeadAndBody) {
  RequestReader reader(kLimits);
  reader.feed("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_TRUE(reader.wants_continue());
  reader.feed("ab");
  EXPECT_FALSE(reader.wants_continue());
}

TEST(HttpMessage, Refusals) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_of("GARBAGE\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://x/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("G(T / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);  // no host
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n continued\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 29)), 400);
  EXPECT_EQ(status_of(head + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(head + "Content-Length: 1 \r\nContent-Length: 1\r\n\r\nx"), 400);
  EXPECT_EQ(status_of(head + "Content-Length: 99999999999999999999999\r\n\r\n"), 400);
  EXPECT_EQ(status_of(head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), 400);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"), 400);
}

TEST(HttpMessage, EverythingIsBounded) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_of(head + "X: " + std::string(600, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of(std::string(1000, 'x')), 431);
  std::string many = head;
  for (int i = 0; i < 200; ++i) many += "a:\r\n";
  RequestReader reader({1 << 20, 64});
  reader.feed(many + "\r\n");
  ASSERT_TRUE(reader.failure());
  EXPECT_EQ(reader.failure()->status, 431);
  // At the announcement, before the body.
  EXPECT_EQ(status_of(head + "Content-Length: 65\r\n\r\n"), 413);
  EXPECT_EQ(status_of(head + "Content-Length: 64\r\n\r\n" + std::string(64, 'x')), 200);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\n41\r\n"), 413);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"), 413);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\n20\r\n" + std::string(32, 'x') + "\r\n21\r\n"), 413);
  EXPECT_EQ(status_of(head + "Transfer-Encoding: chunked\r\n\r\n" + std::string(300, '0')), 400);
  std::string trailers = head + "Transfer-Encoding: chunked\r\n\r\n0\r\n";
  for (int i = 0; i < 1000; ++i) trailers += "a: b\r\n";
  EXPECT_EQ(status_of(trailers), 400);
}

TEST(HttpMessage, ResponseHead) {
  EXPECT_EQ(response_head(404, {{"A", "b"}}), "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n");
}

}  // namespace
}  // namespace metactrl::serve::http_message_test
