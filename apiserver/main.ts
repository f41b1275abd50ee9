#!/usr/bin/env node
import nodeModule, { createRequire } from 'node:module';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { ApiLevel } from '../shared/api-level';
import { formatApiLevel } from '../shared/api-level';
import { parseVersionFlag } from '../shared/flags/version-flag';
import { writeHelp } from '../shared/flags/help';
import { FLAG_ROWS } from './compose/options/flag-rows';
import { FOREIGN_FLAGS } from './compose/options/foreign-flags';
import { parseServerFlags } from './compose/options/parse-server-flags';
import type * as Serve from './serve';

const PROGRAM = 'orch-apiserver';
const SUMMARY =
  'The orch API server: validates and stores the objects of a cluster and tells everyone who watches. Replicas are stateless.';
const USAGE_ERROR = 2;
/**
 * What is kept lies outside of the heap, which is little beside what passes through it. By itself the runtime lets the heap grow to four
 * times what is live before it looks for garbage; with this, to twice that. Less would make it look so often that watch events are late.
 * It is asked for at every collection, so it may come late.
 */
const SMALL_HEAP = '--heap-growing-percent=100';

/** Reads the command line, then serves until SIGTERM or SIGINT. The process's exit code is what `main` resolves to. */
async function main(): Promise<number | undefined> {
  setFlagsFromString(SMALL_HEAP);
  const version = parseVersionFlag(PROGRAM, process.argv.slice(2));
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return 0;
  }
  const parsed = parseServerFlags(version.argv);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAG_ROWS, { program: PROGRAM, summary: SUMMARY, foreign: FOREIGN_FLAGS });
    return 0;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  // The server itself is loaded only to serve: a file of its own beside that of this program, in `dist/apiserver` and in `dist/bin`.
  // From Node 22 on. Where the cache cannot be written, it does nothing.
  (nodeModule as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();
  const { serve } = createRequire(__filename)('./serve') as typeof Serve;
  const end = await serve(parsed.values, parsed.warnings);
  if ('errors' in end) return refuse(end.errors);
  return 'level' in end ? startAgain(end.level) : end.code;
}

function refuse(errors: readonly string[]): number {
  const lines = errors.map((error) => `${PROGRAM}: ${error}\n`);
  process.stderr.write(`${lines.join('')}Run ${PROGRAM} --help for all flags.\n`);
  return USAGE_ERROR;
}

/**
 * Starts this program again at the level of the store. The tables are read when their modules load, so the modules of the program load
 * again; those of packages stay. The program may be installed in `node_modules` itself.
 */
function startAgain(level: ApiLevel): undefined {
  process.env['ORCH_API_LEVEL'] = formatApiLevel(level);
  const dist = `${path.dirname(__dirname)}${path.sep}`;
  for (const file of Object.keys(require.cache)) {
    if (file.startsWith(dist)) Reflect.deleteProperty(require.cache, file);
  }
  createRequire(__filename)(__filename);
  return undefined;
}

main().then(
  (code) => {
    // The program that started again sets it.
    if (code === undefined) return;
    process.exitCode = code;
    // Whatever a library left open must not keep a stopped server alive.
    setTimeout(() => process.exit(code), EXIT_GRACE_MS).unref();
  },
  (error: unknown) => {
    process.stderr.write(
      `${PROGRAM}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);

const EXIT_GRACE_MS = 1_000;
