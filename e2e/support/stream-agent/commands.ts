import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** The streams of one command, as a session has them; those that its client did not ask for are absent. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
}

/** How a command ended, as the error channel tells it. */
export function endStatus(code: number | null): object {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${String(code)}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

/** Runs a command of a container; resolves with its code once everything it said was taken. */
export async function runCommand(
  command: readonly string[],
  cwd: string,
  { stdin, stdout, stderr }: CommandStreams,
): Promise<number | null> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  if (stdin === undefined) child.stdin.end();
  else {
    stdin.pipe(child.stdin);
    // Its client has gone.
    stdin.once('close', () => {
      if (!stdin.readableEnded) child.kill();
    });
  }
  child.stdin.on('error', () => undefined);
  join(child.stdout, stdout);
  join(child.stderr, stderr);
  return ended(child);
}

function join(from: Readable, to: Writable | undefined): void {
  if (to === undefined) {
    from.resume();
    return;
  }
  from.pipe(to);
}

async function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(127));
    child.once('close', (code) => resolve(code));
  });
}
