import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StartedProcess } from '../../deploy/local/started-process';

const LOG_LINES_SHOWN = 40;
const started: StartedProcess[] = [];

/** Creates a temporary folder for a suite; `remove` deletes it. */
export function makeWorkspace(name: string): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(path.join(tmpdir(), `orch-e2e-${name}-`));
  return {
    dir,
    remove() {
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Registers a program, so that a failure prints its last log lines. */
export function remember(program: StartedProcess): StartedProcess {
  started.push(program);
  return program;
}

/** Wraps the body of a test: a failure also prints the last log lines of every registered program. */
export function explained(body: () => Promise<void>): () => Promise<void> {
  return async () => {
    try {
      await body();
    } catch (error) {
      for (const program of started) {
        const state = program.hasExited() ? 'ended' : 'running';
        const lines = program.recentLines().slice(-LOG_LINES_SHOWN).join('\n    ');
        process.stderr.write(`\n  ${program.name} (pid ${String(program.pid)}, ${state}):\n    ${lines}\n`);
      }
      throw error;
    }
  };
}
