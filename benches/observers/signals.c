/* What signals cost where nobody looks at them: signals HZ MILLIONS
 * Reads and writes a few megabytes at random, so many million times, and counts the traps of a clock of its processor time. */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int signal) {
  (void)signal;
  signals++;
}

int main(int argc, char **argv) {
  long hz = argc > 2 ? atol(argv[1]) : 0, rounds = argc > 2 ? atol(argv[2]) * 1000000 : 0;
  if (hz > 0) {
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.type = PERF_TYPE_SOFTWARE;
    event.size = sizeof event;
    event.config = PERF_COUNT_SW_TASK_CLOCK;
    event.sample_period = 1000000000 / hz;
    event.wakeup_events = event.sigtrap = event.remove_on_exec = event.disabled = 1;
    sigaction(SIGTRAP, &action, NULL);
    int fd = syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
      perror("perf_event_open");
      return 1;
    }
  }
  enum { WORDS = 1 << 20 };
  static unsigned words[WORDS];
  unsigned x = 1, sum = 0;
  for (long i = 0; i < rounds; i++) {
    x = x * 1664525u + 1013904223u;
    sum += words[x >> 12];
    words[sum % WORDS] = x;
  }
  printf("%d signals, sum %u\n", (int)signals, sum);
  return 0;
}
