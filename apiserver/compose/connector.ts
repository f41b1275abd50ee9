import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import type { Log } from '../../shared/log/log';
import { isSameAddress } from '../../shared/meta/ip-address';
import type { ConnectCounts } from '../engine/proxy/connect-counts';
import { Connector } from '../engine/proxy/connector';
import type { CertificateFiles, LoadedCertificate } from '../engine/server/certificate-files';
import { openCertificate } from '../engine/server/certificate-files';
import { CERTIFICATE_POLL_MS } from '../engine/server/limits';
import type { ConnectOptions } from './options/connect-options';

export interface ConnectorParts {
  readonly counts: ConnectCounts;
  readonly log: Log;
  /** Returns the port on which this server listens. */
  readonly ownPort: () => number;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** Builds the connector to kubelets and to workloads on nodes. Throws an Error that names an unusable file. */
export async function createConnector(
  options: ConnectOptions,
  { counts, log, ownPort, shutdownSignal }: ConnectorParts,
): Promise<Connector> {
  const certificate = await keptCertificate(options.agentClient, { log, shutdownSignal });
  const ca = options.agentCaFile === '' ? undefined : await readFile(options.agentCaFile);
  const verification = ca === undefined ? { insecureSkipTlsVerify: true } : { ca };
  return new Connector({
    agents: options.agents,
    agentTls: () => ({ ...verification, ...certificate() }),
    agentDialMsMax: options.agentDialMsMax,
    redirects: options.redirects,
    counts,
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
