import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessExit, StartedProcess } from './started-process';
import { describeExit, exitCodeOf } from './started-process';

/** A part of the set that runs until it is stopped. */
export interface Stage {
  stop(): Promise<void>;
  /** Resolves when a program of the stage has ended unexpectedly. */
  readonly failed: Promise<{ readonly name: string; readonly exit: ProcessExit }>;
}

/**
 * Runs `start`, then stays until Ctrl-C, SIGTERM or the failure of a stage, and stops the stages in the reverse order of their start.
 * A second Ctrl-C does not wait any longer. Resolves to the exit code: 0 after a signal, else that of the program that failed.
 */
export async function runInForeground(
  start: (add: (stage: Stage) => void) => Promise<void>,
): Promise<number> {
  const stages: Stage[] = [];
  let isStopping = false;
  const ended = new Promise<number>((resolve) => {
    const onSignal = (): void => {
      if (isStopping) process.exit(EXIT_CODE_INTERRUPTED);
      isStopping = true;
      resolve(0);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    const resolveOnFailure = async (stage: Stage): Promise<void> => {
      const { name, exit } = await stage.failed;
      if (!isStopping) print(`${name} stopped with ${describeExit(exit)}; stopping the rest`);
      isStopping = true;
      resolve(exitCodeOf(exit));
    };
    const add = (stage: Stage): void => {
      stages.push(stage);
      void resolveOnFailure(stage);
    };
    start(add).catch(async (error: unknown) => {
      // A program that died during the wait has reported it itself by the next turn.
      await delay(0);
      if (!isStopping) print(error instanceof Error ? error.message : String(error));
      isStopping = true;
      resolve(1);
    });
  });
  const exitCode = await ended;
  for (const stage of stages.toReversed()) await stage.stop();
  print('stopped');
  return exitCode;
}

/** A stage of one program, whose end is a failure. */
export function stageOf(program: StartedProcess, graceMs: number): Stage {
  return {
    failed: program.exited.then((exit) => ({ name: program.name, exit })),
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
  const watchOver = async (): Promise<{ name: string; exit: ProcessExit }> => {
    for (;;) {
      const exit = await program.exited;
      if (isStopping) return new Promise(() => undefined);
      const now = Date.now();
      while (restarts[0] !== undefined && restarts[0] < now - RESTARTS_WINDOW_MS) restarts.shift();
      if (restarts.push(now) > RESTARTS_MAX) return { name: program.name, exit };
      print(`${program.name} stopped with ${describeExit(exit)}; starting it again`);
      await delay(RESTART_DELAY_MS);
      if (isStopping) return new Promise(() => undefined);
      program = await start();
    }
  };
  return {
    first,
    failed: watchOver(),
    async stop() {
      isStopping = true;
      await program.stop(graceMs);
    },
  };
}

/** Prefixes every line of a program with its name. */
export function printer(name: string): (line: string) => void {
  return (line) => process.stdout.write(`${name.padEnd(NAME_WIDTH)} | ${line}\n`);
}

/** A line of the launcher itself. */
export function print(text: string): void {
  process.stdout.write(`orch: ${text}\n`);
}

const NAME_WIDTH = 20;
const EXIT_CODE_INTERRUPTED = 130;
const RESTARTS_MAX = 5;
const RESTARTS_WINDOW_MS = 60_000;
const RESTART_DELAY_MS = 1_000;
