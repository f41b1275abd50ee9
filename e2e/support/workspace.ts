import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StartedProcess } from '../../deploy/local/started-process';

const LOG_LINES_SHOWN = 40;
const started: StartedProcess[] = [];

/** A temporary folder of one suite; `remove` takes it away. */
export function makeWorkspace(name: string): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(path.join(tmpdir(), `orch-e2e-${name}-`));
  return {
    dir,
    remove() {
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Remembers a program, so that its last lines are shown beside a failure. */
export function remember(program: StartedProcess): StartedProcess {
  started.push(program);
  return program;
}

/** The body of a test that, when it fails, also shows the last log lines of every program the suite has started. */
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
