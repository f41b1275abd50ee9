#!/usr/bin/env node
import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServerFlags } from '../../apiserver/compose/options/complete-options';
import { completeOptions } from '../../apiserver/compose/options/complete-options';
import { FLAG_ROWS } from '../../apiserver/compose/options/flag-rows';
import { FOREIGN_FLAGS } from '../../apiserver/compose/options/foreign-flags';
import { parseServerFlags } from '../../apiserver/compose/options/parse-server-flags';
import type { ServerOptions, ServingOptions } from '../../apiserver/compose/options/server-options';
import { runServer } from '../../apiserver/run';
import { controllersWith, selectControllers } from '../../controller-manager/controllers';
import { FLAGS as CONTROLLER_FLAGS } from '../../controller-manager/flags';
import { runControllerManager } from '../../controller-manager/run';
import type { Controller } from '../../controller-manager/runtime/controller';
import { MANAGER_GATES } from '../../controller-manager/runtime/controller';
import type { ControllerOptions } from '../../controller-manager/runtime/controller-options';
import { readTokenKey } from '../../controller-manager/runtime/token-key-file';
import { readBuild } from '../../shared/build';
import { listenHost } from '../../shared/certs/serving-hosts';
import { ensureServingCertificate } from '../../shared/certs/serving-certificate';
import { createClient } from '../../shared/client/client';
import type { ClientOptions } from '../../shared/client/options';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { defined } from '../../shared/defined';
import { parseFeatureGates } from '../../shared/flags/feature-gates';
import { writeHelp } from '../../shared/flags/help';
import { parseFlags } from '../../shared/flags/parse-flags';
import { parseVersionFlag } from '../../shared/flags/version-flag';
import type { Log } from '../../shared/log/log';
import { createProcessLog } from '../../shared/log/pino-log';
import { USER, USER_GROUP } from '../../shared/names';
import { runProgram } from './run-program';
import { locateStore } from './store-report';

const PROGRAM = 'kube-apiserver';
const SUMMARY =
  'The orch API server with the command line of kube-apiserver, and the controllers that the words before -- select.';
const EXIT = { ok: 0, usage: 2 } as const;
const TOKEN_BYTES = 24;

/** Separates the flags that the entry point adds, which are those of the controllers, from those of the test framework. */
const END_OF_OWN_FLAGS = '--';

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
  await serve({ options: completed.options, controllers, log, lastError }, stop);
  return EXIT.ok;
}

interface Controllers {
  readonly selected: readonly Controller[];
  readonly options: ControllerOptions;
}

function parseControllers(words: readonly string[]): Controllers | { readonly errors: readonly string[] } {
  const parsed = parseFlags(CONTROLLER_FLAGS, words);
  if (parsed.outcome === 'help') return { errors: ['--help belongs after --'] };
  if (parsed.outcome === 'errors') return parsed;
  const { values } = parsed;
  const gates = parseFeatureGates(values.featureGates, MANAGER_GATES);
  if (!gates.ok) return gates;
  const { selected, unknown } = selectControllers(values.controllers, controllersWith(gates.gates));
  if (unknown.length > 0) {
    return { errors: unknown.map((name) => `--controllers: there is no controller named "${name}"`) };
  }
  return { selected, options: values };
}

/**
 * kube-apiserver serves with the pair that it finds in `--cert-dir`, whichever authority has signed it; ours would replace a pair that is
 * not of its own authority there.
 */
function withGivenCertificate(flags: ServerFlags): ServerFlags {
  const [crt, key] = ['apiserver.crt', 'apiserver.key'].map((name) => path.join(flags.certDir, name));
  const isOwn = existsSync(path.join(flags.certDir, 'ca.key'));
  if (flags.tlsCertFile !== '' || isOwn || crt === undefined || key === undefined) return flags;
  return existsSync(crt) && existsSync(key) ? { ...flags, tlsCertFile: crt, tlsPrivateKeyFile: key } : flags;
}

interface ServeParts {
  readonly options: ServerOptions;
  readonly controllers: Controllers;
  readonly log: Log;
  readonly lastError: () => Error | undefined;
}

/** Runs the server, and the controllers as clients of it, until `stop` aborts or one of them fails. */
async function serve({ options, controllers, log, lastError }: ServeParts, stop: AbortSignal): Promise<void> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const authentication = {
    ...options.authentication,
    ownTokens: [{ token, name: USER.apiServer, groups: [USER_GROUP.masters] }],
  };
  const { certificate } = options.serving;
  // The controllers trust it before the server has opened its listener.
  if (certificate.from === 'self-signed') ensureServingCertificate({ ...certificate, log });
  const ending = linkedAbort(stop);
  const ended = (): void => ending.abort(new Error('the server has ended'));
  const server = runServer(
    { options: { ...options, authentication }, log, logFailure: lastError, build: readBuild() },
    stop,
  );
  try {
    await Promise.all([
      server.finally(ended),
      controllers.selected.length === 0
        ? undefined
        : control({ options, controllers, log, token }, ending.signal),
    ]);
  } finally {
    ending.unlink();
  }
}

async function control(
  { options, controllers, log, token }: Omit<ServeParts, 'lastError'> & { readonly token: string },
  signal: AbortSignal,
): Promise<void> {
  const client = createClient({ ...ownAddress(options.serving), token, log, userAgent: PROGRAM });
  const { signingKey } = options.authentication.accountTokens;
  const { certificate } = options.serving;
  const rootCa =
    certificate.from === 'self-signed'
      ? readFileSync(path.join(certificate.dir, 'ca.crt'), 'utf8')
      : undefined;
  const tokenKey = signingKey.from === 'file' ? readTokenKey(signingKey.file) : undefined;
  try {
    await runControllerManager(
      {
        client,
        log,
        controllers: controllers.selected,
        controllerOptions: { ...controllers.options, ...defined({ rootCa, tokenKey }) },
        metrics: {
          queueOf: (_controller, queueOptions) => createWorkQueue(queueOptions),
          noteLeading: () => undefined,
        },
      },
      signal,
    );
  } finally {
    client.close();
  }
}

/** How a client in this process reaches the server. It trusts the serving certificate itself, whose authority may be unknown here. */
function ownAddress({ bindAddress, port, certificate }: ServingOptions): ClientOptions {
  const host = listenHost(bindAddress) ?? '127.0.0.1';
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  if (certificate.from === 'self-signed') return { server, caFile: path.join(certificate.dir, 'ca.crt') };
  const ca = certificate.from === 'memory' ? certificate.loaded.cert : readFileSync(certificate.certFile);
  const [, name] = /(?:DNS|IP Address):([^,\s]+)/u.exec(new X509Certificate(ca).subjectAltName ?? '') ?? [];
  return { server, ca, ...defined({ tlsServerName: name }) };
}

function refuse(errors: readonly string[]): number {
  for (const error of errors) process.stderr.write(`${PROGRAM}: ${error}\n`);
  return EXIT.usage;
}

runProgram(PROGRAM, async (stop) => main(process.argv.slice(2), stop));
