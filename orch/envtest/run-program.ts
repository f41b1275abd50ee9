const EXIT = { failure: 1 } as const;
const PARENT_CHECK_MS = 500;
/** Handles that a library left open must not keep a stopped program alive. */
const EXIT_GRACE_MS = 500;

/**
 * Runs `work` as the program of this process and exits with its result. `stop` aborts on SIGTERM and SIGINT, and when the process that
 * started this one has ended: a test runner that is killed sends no signal, and the programs of envtest have a process group of their own.
 *
 * @param program The name in front of error messages.
 * @param work Resolves to the exit code.
 */
export function runProgram(program: string, work: (stop: AbortSignal) => Promise<number>): void {
  const stop = new AbortController();
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid !== parent) stop.abort(new Error('the parent process has ended'));
  }, PARENT_CHECK_MS);
  watch.unref();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(EXIT.failure);
      stop.abort(new Error(`received ${name}`));
    });
  }
  work(stop.signal)
    .catch((error: unknown) => {
      process.stderr.write(`${program}: ${error instanceof Error ? error.message : String(error)}\n`);
      return EXIT.failure;
    })
    .then(
      (code) => {
        process.exitCode = code;
        clearInterval(watch);
        setTimeout(() => process.exit(code), EXIT_GRACE_MS).unref();
      },
      () => undefined,
    );
}
