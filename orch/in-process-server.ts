import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ServerOptions, ServingOptions } from '../apiserver/compose/options/server-options';
import { runServer } from '../apiserver/run';
import { controllersWith, selectControllers } from '../controller-manager/controllers';
import { FLAGS as CONTROLLER_FLAGS } from '../controller-manager/flags';
import { runControllerManager } from '../controller-manager/run';
import type { Controller } from '../controller-manager/runtime/controller';
import { MANAGER_GATES } from '../controller-manager/runtime/controller-options';
import type { ControllerOptions } from '../controller-manager/runtime/controller-options';
import { readTokenKey } from '../controller-manager/runtime/token-key-file';
import { readBuild } from '../shared/build';
import { ensureServingCertificate } from '../shared/certs/serving-certificate';
import { listenHost } from '../shared/certs/serving-hosts';
import type { Client } from '../shared/client/client';
import { createClient } from '../shared/client/client';
import type { ClientOptions } from '../shared/client/options';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import { createWorkQueue } from '../shared/concurrency/work-queue';
import { defined } from '../shared/defined';
import { parseFeatureGates } from '../shared/flags/feature-gates';
import { parseFlags } from '../shared/flags/parse-flags';
import type { Log } from '../shared/log/log';
import { USER, USER_GROUP } from '../shared/names';

export interface Controllers {
  readonly selected: readonly Controller[];
  readonly options: ControllerOptions;
}

export interface InProcessServer {
  /** The port must be a fixed one. */
  readonly options: ServerOptions;
  readonly controllers: Controllers;
  readonly log: Log;
  /** Returns why the last log line could not be written. */
  readonly lastError: () => Error | undefined;
  readonly userAgent: string;
  /** Runs beside the controllers, as a superuser. The server ends if it throws. */
  readonly work?: (client: Client, superuser: Superuser, signal: AbortSignal) => Promise<void>;
}

/** How the superuser of this process reaches the server. */
export interface Superuser {
  readonly server: string;
  readonly token: string;
}

const TOKEN_BYTES = 24;

/** Selects controllers by flags of orch-controller-manager, without its own program. */
export function parseControllers(
  words: readonly string[],
): Controllers | { readonly errors: readonly string[] } {
  const parsed = parseFlags(CONTROLLER_FLAGS, words);
  if (parsed.outcome === 'help') return { errors: ['--help does not belong here'] };
  if (parsed.outcome === 'errors') return parsed;
  const { values } = parsed;
  const gates = parseFeatureGates(values.featureGates, MANAGER_GATES);
  if (!gates.ok) return gates;
  const { selected, unknown } = selectControllers(values.controllers, controllersWith(gates.gates));
  return unknown.length === 0
    ? { selected, options: { ...values, gates: gates.gates } }
    : { errors: unknown.map((name) => `--controllers: there is no controller named "${name}"`) };
}

/**
 * Runs a server, and controllers as clients of it with a token that no file holds, until `stop` aborts. Rejects if one of them fails; the
 * others are stopped then.
 */
export async function serveInProcess(parts: InProcessServer, stop: AbortSignal): Promise<void> {
  const { options, controllers, log, lastError, work } = parts;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const authentication = {
    ...options.authentication,
    ownTokens: [{ token, name: USER.apiServer, groups: [USER_GROUP.masters] }],
  };
  const { certificate } = options.serving;
  // The clients trust it before the server has opened its listener.
  if (certificate.from === 'self-signed') ensureServingCertificate({ ...certificate, log });
  const address = ownAddress(options.serving);
  const client = createClient({ ...address, token, log, userAgent: parts.userAgent });
  const ending = linkedAbort(stop);
  const endWith = async (running: Promise<unknown>): Promise<void> => {
    try {
      await running;
    } catch (error) {
      ending.abort(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
  const serving = runServer(
    { options: { ...options, authentication }, log, logFailure: lastError, build: readBuild() },
    ending.signal,
  ).finally(() => ending.abort(new Error('the server has ended')));
  const endings = await Promise.allSettled([
    serving,
    endWith(controllers.selected.length === 0 ? Promise.resolve() : control(parts, client, ending.signal)),
    endWith(work === undefined ? Promise.resolve() : work(client, { ...address, token }, ending.signal)),
  ]);
  ending.unlink();
  client.close();
  const failure = endings.find((each) => each.status === 'rejected');
  if (failure !== undefined && !stop.aborted) throw failure.reason;
}

async function control(
  { options, controllers, log }: InProcessServer,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  const { signingKey } = options.authentication.accountTokens;
  const { certificate } = options.serving;
  const rootCa =
    certificate.from === 'self-signed'
      ? readFileSync(path.join(certificate.dir, 'ca.crt'), 'utf8')
      : undefined;
  const tokenKey = signingKey.from === 'file' ? readTokenKey(signingKey.file) : undefined;
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
