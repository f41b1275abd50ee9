import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** The streams of one command; streams that the client did not request are absent. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  readonly stderr?: Writable | undefined;
}

/** The result of a command, as sent on the error channel. */
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

/** Runs a command of a container; resolves with its exit code once its output is read. */
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
    // The client has disconnected.
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
