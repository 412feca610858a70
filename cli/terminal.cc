// POSIX calls of the command line. Everything here is thin on purpose: decisions about what to
// print stand elsewhere, so that they can be read and tested without a terminal.
#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace flambeau::cli::terminal {
namespace {

// Linux transfers at most 0x7ffff000 bytes in one call; a round number below it.
constexpr std::size_t kLargestTransfer = std::size_t{1} << 30;

// After an interruption, and once there is room in a pipe that does not block: such a flag belongs
// to the pipe, and whoever else writes to it may have set it.
bool can_try_again(int fd) noexcept {
  if (errno != EAGAIN) return errno == EINTR;
  pollfd room{fd, POLLOUT, 0};
  return ::poll(&room, 1, -1) >= 0 || errno == EINTR;
}

// Read by the handler, which may neither allocate nor wait; never freed.
const LastWords* last_words = nullptr;

// Only what is safe in a handler (signal-safety(7)). Other causes of SIGBUS, a broken memory chip
// among them, happen again on return, and then kill.
void report_lost_page(int, siginfo_t* info, void*) {
  if (info->si_code != BUS_ADRERR) return;
  write(Stream::output, last_words->output);
  write(Stream::error, last_words->error);
  ::_exit(last_words->status);
}

bool has_value(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

void prepare() noexcept {
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // fails for no signal that there is
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  for (int fd = 0; fd <= 2; ++fd) {
    // `open` takes the lowest free number, which is `fd`. Read-only: a later write says EBADF.
    if (::fcntl(fd, F_GETFD) == -1 && ::open("/dev/null", O_RDONLY) == -1) return;
  }
}

void prepare_for_lost_pages(LastWords words) {
  last_words = new LastWords(std::move(words));
  struct sigaction action = {};
  action.sa_sigaction = report_lost_page;
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGBUS, &action, nullptr);
}

bool is_terminal(Stream stream) noexcept { return ::isatty(static_cast<int>(stream)) == 1; }

std::size_t width() noexcept {
  winsize size{};
  if (!is_terminal(Stream::output) || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool wants_colour() noexcept {
  if (!is_terminal(Stream::output) || has_value("NO_COLOR")) return false;
  const char* kind = std::getenv("TERM");
  return kind != nullptr && std::string_view(kind) != "dumb";
}

// A pipe takes what fits; the rest is offered again. SIGPIPE is off, so a closed one says EPIPE.
int write(Stream stream, std::string_view text) noexcept {
  const int fd = static_cast<int>(stream);
  while (!text.empty()) {
    const ssize_t taken = ::write(fd, text.data(), std::min(text.size(), kLargestTransfer));
    if (taken < 0 && !can_try_again(fd)) return errno;
    if (taken > 0) text.remove_prefix(static_cast<std::size_t>(taken));
  }
  return 0;
}

std::string_view describe(int error) noexcept { return std::strerror(error); }

}  // namespace flambeau::cli::terminal
