import { randomInt } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { AllowsAddress } from '../../shared/meta/ip-address';
import type { ClientTls } from '../../shared/client/connect-tls';
import type { Log } from '../../shared/log/log';
import { isSameAddress } from '../../shared/meta/ip-address';
import { openCaBundle } from '../engine/authn/x509/ca-bundle';
import type { ConnectCounts } from '../engine/proxy/connect-counts';
import { Connector } from '../engine/proxy/connector';
import type { CertificateFiles, LoadedCertificate } from '../engine/server/certificate-files';
import { openCertificate } from '../engine/server/certificate-files';
import { CERTIFICATE_POLL_MS } from '../engine/server/limits';
import type { ConnectOptions } from './options/connect-options';

export interface ConnectorParts {
  readonly counts: ConnectCounts;
  /** Which addresses may be connected to. */
  readonly allows: AllowsAddress | undefined;
  readonly log: Log;
  /** Returns the port on which this server listens. */
  readonly ownPort: () => number;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** Builds the connector to kubelets and to workloads on nodes. Throws an Error that names an unusable file. */
export async function createConnector(
  options: ConnectOptions,
  { counts, allows, log, ownPort, shutdownSignal }: ConnectorParts,
): Promise<Connector> {
  const certificate = await keptCertificate(options.agentClient, { log, shutdownSignal });
  const bundle = options.agentCaFile === '' ? undefined : openCaBundle(options.agentCaFile, { log });
  if (bundle !== undefined) shutdownSignal.addEventListener('abort', bundle.stop, { once: true });
  const verification = (): ClientTls =>
    bundle === undefined ? { insecureSkipTlsVerify: true } : { ca: bundle.current().pem };
  return new Connector({
    agents: options.agents,
    agentTls: () => ({ ...verification(), ...certificate() }),
    agentDialMsMax: options.agentDialMsMax,
    redirects: options.redirects,
    counts,
    allows,
    isOwnAddress: (address, port) => port === ownPort() && isOfThisHost(address),
    randomInt: (bound) => randomInt(bound),
  });
}

function isOfThisHost(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map((it) => it.address));
  return own.some((each) => isSameAddress(each, address));
}

/** Returns the current certificate of the files, which may be replaced at any time; undefined without files. */
export async function keptCertificate(
  files: CertificateFiles | undefined,
  { log, shutdownSignal }: Pick<ConnectorParts, 'log' | 'shutdownSignal'>,
): Promise<() => LoadedCertificate | undefined> {
  if (files === undefined) return () => undefined;
  let current: LoadedCertificate | undefined;
  const { loaded, stop } = await openCertificate(files, {
    name: 'client',
    pollMs: CERTIFICATE_POLL_MS,
    log,
    onChange: (changed) => {
      current = changed;
    },
  });
  current = loaded;
  shutdownSignal.addEventListener('abort', stop, { once: true });
  return () => current;
}
