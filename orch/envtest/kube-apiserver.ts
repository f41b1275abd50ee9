import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ServerFlags } from '../../apiserver/compose/options/complete-options';
import { completeOptions } from '../../apiserver/compose/options/complete-options';
import { FLAG_ROWS } from '../../apiserver/compose/options/flag-rows';
import { FOREIGN_FLAGS } from '../../apiserver/compose/options/foreign-flags';
import { parseServerFlags } from '../../apiserver/compose/options/parse-server-flags';
import { writeHelp } from '../../shared/flags/help';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import { createProcessLog } from '../../shared/log/pino-log';
import { runProgram } from './run-program';
import { locateStore } from './store-report';
import { parseControllers, serveInProcess } from '../in-process-server';

const PROGRAM = 'kube-apiserver';
const SUMMARY =
  'The orch API server with the command line of kube-apiserver, and the controllers that the words before -- select.';
const EXIT = { ok: 0, usage: 2 } as const;

/** Separates the flags that the entry point adds, which are those of the controllers, from those of the test framework. */
const END_OF_OWN_FLAGS = '--';

/** Runs the program with the words after its name. */
export function runKubeApiserver(words: readonly string[]): void {
  runProgram(PROGRAM, async (stop) => main(words, stop));
}

async function main(words: readonly string[], stop: AbortSignal): Promise<number> {
  const end = words.indexOf(END_OF_OWN_FLAGS);
  const version = parseVersionFlag(PROGRAM, words.slice(end + 1));
  if (version.outcome === 'error') return refuse([version.error]);
  if (version.outcome === 'line') {
    process.stdout.write(`${version.line}\n`);
    return EXIT.ok;
  }
  const parsed = parseServerFlags(version.argv);
  if (parsed.outcome === 'help') {
    writeHelp(process.stdout, FLAG_ROWS, { program: PROGRAM, summary: SUMMARY, foreign: FOREIGN_FLAGS });
    return EXIT.ok;
  }
  if (parsed.outcome === 'errors') return refuse(parsed.errors);
  const controllers = parseControllers(words.slice(0, Math.max(end, 0)));
  if ('errors' in controllers) return refuse(controllers.errors);
  const completed = completeOptions(await locateStore(withGivenCertificate(parsed.values), stop));
  if (!completed.ok) return refuse(completed.errors);
  const { log, lastError } = createProcessLog(completed.options.logging);
  for (const warning of [...parsed.warnings, ...completed.warnings]) log.warn({}, warning);
  const { options } = completed;
  await serveInProcess({ options, controllers, log, lastError, userAgent: PROGRAM }, stop);
  return EXIT.ok;
}

/**
 * kube-apiserver uses the pair in `--cert-dir` whatever authority has signed it. Our server would replace a pair that its own authority has
 * not signed.
 */
function withGivenCertificate(flags: ServerFlags): ServerFlags {
  const [crt, key] = ['apiserver.crt', 'apiserver.key'].map((name) => path.join(flags.certDir, name));
  const isOwn = existsSync(path.join(flags.certDir, 'ca.key'));
  if (flags.tlsCertFile !== '' || isOwn || crt === undefined || key === undefined) return flags;
  return existsSync(crt) && existsSync(key) ? { ...flags, tlsCertFile: crt, tlsPrivateKeyFile: key } : flags;
}

function refuse(errors: readonly string[]): number {
  for (const error of errors) process.stderr.write(`${PROGRAM}: ${error}\n`);
  return EXIT.usage;
}
