import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { guardProcess, releaseProcess } from './guard';

export interface ProcessOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Called with every line of stdout and stderr. */
  readonly onLine?: (line: string) => void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartedProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<ProcessExit>;
  hasExited(): boolean;
  /** The last printed lines, oldest first. */
  recentLines(): readonly string[];
  /** Sends a signal to the process and its children; without effect after its end. */
  signal(name: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<ProcessExit>;
}

/**
 * Starts a program in a separate process group, so that Ctrl-C reaches only the launcher, which then stops its programs in order. Throws when the
 * program cannot be started.
 */
export async function startProcess(options: ProcessOptions): Promise<StartedProcess> {
  const child = spawn(options.command, [...options.args], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  // At once, so that the program ends with this process even if this process is killed in the next instant.
  if (child.pid !== undefined) guardProcess(child.pid);
  const lines: string[] = [];
  const keep = (line: string): void => {
    lines.push(line);
    if (lines.length > RECENT_LINES_MAX) lines.shift();
    options.onLine?.(line);
  };
  createInterface({ input: child.stdout }).on('line', keep);
  createInterface({ input: child.stderr }).on('line', keep);
  const exited = whenExited(child);
  const pid = await spawnedPid(child, options.name);
  return controls({ name: options.name, pid, exited, lines });
}

/** Formats an exit: `exit code 3` or `signal SIGKILL`. */
export function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exit code ${String(code ?? 0)}` : `signal ${signal}`;
}

/** The last error that the program printed, in its log or on stderr, or undefined. */
export function findLastError(lines: readonly string[]): string | undefined {
  return lines.map((line) => ERROR_LINE.exec(line)?.[1]).findLast((text) => text !== undefined);
}

/** An error line of the log, or `orch-apiserver: unknown flag` on stderr. */
const ERROR_LINE = /(?:\] (?:ERROR|FATAL): |^orch-[a-z-]+: )(.+)$/u;

/** The exit code as reported by a shell. */
export function exitCodeOf({ code, signal }: ProcessExit): number {
  return signal === null ? (code ?? 0) : 128 + constants.signals[signal];
}

const RECENT_LINES_MAX = 200;

function controls(parts: {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly lines: readonly string[];
}): StartedProcess {
  let isOver = false;
  const exited = parts.exited.then((exit) => {
    isOver = true;
    releaseProcess(parts.pid);
    return exit;
  });
  const signal = (name: NodeJS.Signals): void => {
    if (!isOver) killIfThere(-parts.pid, name);
  };
  return {
    name: parts.name,
    pid: parts.pid,
    exited,
    hasExited: () => isOver,
    recentLines: () => parts.lines,
    signal,
    async stop(graceMs) {
      signal('SIGCONT');
      signal('SIGTERM');
      const timer = setTimeout(() => {
        signal('SIGKILL');
      }, graceMs);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
}

/** Whether the process has ended; its pipes may still have data. */
function killIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function spawnedPid(child: ChildProcess, name: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(new Error(`Could not start ${name}: ${cause.message}`, { cause }));
    });
  });
  if (child.pid === undefined) throw new Error(`Could not start ${name}.`);
  return child.pid;
}

/** Waits for the pipes too, so that the last output of a dying program is read. */
function whenExited(child: ChildProcess): Promise<ProcessExit> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal });
    });
  });
}
