import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import type { StartedProcess } from './started-process';
import { describeExit, exitCodeOf, findLastError } from './started-process';

/** Why the set must end. */
export interface Failure {
  /** For the user: `apiserver stopped with exit code 1: the disk is full`. */
  readonly reason: string;
  readonly exitCode: number;
}

/** A part of the set that runs until it is stopped. */
export interface Stage {
  stop(): Promise<void>;
  /** Resolves when the stage has ended or failed unexpectedly. */
  readonly failed: Promise<Failure>;
}

/**
 * Runs `start`, then stays until Ctrl-C, SIGTERM, the end of the terminal or of npm, or the failure of a stage, and stops the stages in the
 * reverse order of their start. A second Ctrl-C does not wait any longer. Resolves to the exit code: 0 after a signal, else that of the failure.
 */
export async function runInForeground(
  start: (add: (stage: Stage) => void) => Promise<void>,
): Promise<number> {
  const stages: Stage[] = [];
  let end: Failure | undefined;
  const ended = new Promise<Failure>((resolve) => {
    const endWith = (failure: Failure): void => {
      if (end !== undefined) return;
      end = failure;
      if (failure.exitCode !== 0) print(`${failure.reason}; stopping the rest`);
      resolve(failure);
    };
    let firstSignalAt: number | undefined;
    const onSignal = (): void => {
      firstSignalAt ??= performance.now();
      if (performance.now() - firstSignalAt > FORWARDED_MS_MAX) process.exit(EXIT_CODE_INTERRUPTED);
      endWith(STOPPED_BY_USER);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    // Without a terminal or a reader of the output there is no user any more.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => endWith(STOPPED_BY_USER));
    // `nohup` leaves no terminal: the set outlives the logout, and npm, which ends by it. That the signal was ignored is not visible: Node resets it.
    const hasTerminal = [0, 1, 2].some(isatty);
    let outlivesNpm = false;
    process.on('SIGHUP', () => {
      outlivesNpm = !hasTerminal;
      if (hasTerminal) endWith(STOPPED_BY_USER);
    });
    endWithParent(() => {
      if (!outlivesNpm) endWith(STOPPED_BY_USER);
    });
    const add = (stage: Stage): void => {
      stages.push(stage);
      void stage.failed.then(endWith);
    };
    start(add).then(
      () => {
        isStarting = false;
      },
      async (error: unknown) => {
        // A program that died during the wait has reported it itself by the next turn.
        await delay(0);
        endWith({ reason: error instanceof Error ? error.message : String(error), exitCode: 1 });
      },
    );
  });
  const { reason, exitCode } = await ended;
  for (const stage of stages.toReversed()) await stage.stop();
  print(exitCode === 0 ? 'stopped' : `stopped, because ${reason}`);
  return exitCode;
}

/** A stage of one program, whose end is a failure. */
export function stageOf(program: StartedProcess, graceMs: number): Stage {
  return {
    failed: program.exited.then(() => failureOf(program)),
    async stop() {
      await program.stop(graceMs);
    },
  };
}

/** A stage of several programs that are stopped together. */
export function together(stages: readonly Stage[]): Stage {
  return {
    failed: Promise.race(stages.map((stage) => stage.failed)),
    async stop() {
      await Promise.all(stages.map((stage) => stage.stop()));
    },
  };
}

/**
 * A program that restarts when it ends, as under a service manager; too many restarts within a minute are a failure. `first` is
 * the process of the first start.
 */
export async function keepRunning(
  start: () => Promise<StartedProcess>,
  graceMs: number,
): Promise<Stage & { readonly first: StartedProcess }> {
  const first = await start();
  let program = first;
  let isStopping = false;
  const restarts: number[] = [];
  const watchOver = async (): Promise<Failure> => {
    for (;;) {
      await program.exited;
      if (isStopping) return new Promise(() => undefined);
      const failure = await failureOf(program);
      const now = Date.now();
      while (restarts[0] !== undefined && restarts[0] < now - RESTARTS_WINDOW_MS) restarts.shift();
      if (restarts.push(now) > RESTARTS_MAX) return failure;
      print(`${failure.reason}; starting it again`);
      await delay(RESTART_DELAY_MS);
      if (isStopping) return new Promise(() => undefined);
      program = await start();
      print(`${program.name} runs again, pid ${String(program.pid)}`);
    }
  };
  return {
    first,
    failed: watchOver().catch((error: unknown) => ({
      reason: `${first.name}: ${String(error)}`,
      exitCode: 1,
    })),
    async stop() {
      isStopping = true;
      await program.stop(graceMs);
    },
  };
}

/**
 * Prefixes every line of a program with its name. Before the set is ready, what programs report about their own start is left out: the launcher
 * says when all of them are ready, and a failed start is described with the last lines of the program.
 */
export function printer(name: string): (line: string) => void {
  return (line) => {
    if (isStarting && INFO_LINE.test(line)) return;
    process.stdout.write(`${name.padEnd(NAME_WIDTH)} | ${line}\n`);
  };
}

/** A line of the launcher itself. */
export function print(text: string): void {
  process.stdout.write(`orch: ${text}\n`);
}

let isStarting = true;

const STOPPED_BY_USER: Failure = { reason: '', exitCode: 0 };
const INFO_LINE = /^\[[\d:.]+\] INFO: /u;
const NAME_WIDTH = 20;
const EXIT_CODE_INTERRUPTED = 130;
/** Ctrl-C reaches this process twice: from the terminal, and forwarded by npm. A second signal after this time is another Ctrl-C. */
const FORWARDED_MS_MAX = 1_000;
const RESTARTS_MAX = 5;
const RESTARTS_WINDOW_MS = 60_000;
const RESTART_DELAY_MS = 1_000;
const PARENT_CHECK_MS = 1_000;

async function failureOf(program: StartedProcess): Promise<Failure> {
  const exit = await program.exited;
  const error = exit.signal === null ? findLastError(program.recentLines()) : undefined;
  const cause = error === undefined ? '' : `: ${error}`;
  return { reason: `${program.name} stopped with ${describeExit(exit)}${cause}`, exitCode: exitCodeOf(exit) };
}

/** Calls `onEnd` when npm, which started this process, is gone, so that a killed npm leaves nothing running. */
function endWithParent(onEnd: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    // After the SIGHUP that may have ended npm.
    setImmediate(onEnd);
  }, PARENT_CHECK_MS);
  timer.unref();
}
