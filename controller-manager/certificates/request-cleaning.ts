import { RESOURCE } from '../../shared/api/resource-names';
import type { CertificateSigningRequest } from '../../shared/api/types/certificates-v1';
import { X509Certificate } from 'node:crypto';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { parseTime } from '../../shared/meta/time';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import { conditionsOf, requestInformer } from './certificate-request';

/** Age since the last change after which a request is deleted, in milliseconds. */
const UNCHANGED_MS = 3_600_000;
const WORKERS = 1;

/** Deletes expired certificate signing requests. */
export async function runRequestCleaning(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  await runObjectLoop(
    {
      context,
      informer: requestInformer(context),
      workers: WORKERS,
      reconcile: async (request, stop) => deleteWhenOld({ ...context, clock }, request, stop),
    },
    signal,
  );
}

async function deleteWhenOld(
  { client, log, clock }: ControllerContext & { readonly clock: Clock },
  request: CertificateSigningRequest,
  stop: AbortSignal,
): Promise<Requeue | undefined> {
  const leftMs = endOf(request) - clock.now();
  if (leftMs > 0) return { requeueAfterMs: leftMs };
  const { name = '', uid = '', resourceVersion = '' } = request.metadata;
  try {
    // The preconditions keep a request that is decided meanwhile.
    const preconditions = { uid, resourceVersion };
    await client.delete(RESOURCE.certificatesigningrequests, { name }, { preconditions }, { signal: stop });
    log.info({ request: name }, 'old certificate signing request deleted');
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
  }
  return undefined;
}

/**
 * Returns when to delete the request, in milliseconds since the epoch: an hour after its last change, or when its certificate expires.
 */
export function endOf(request: CertificateSigningRequest): number {
  const { metadata, status } = request;
  const changes = [metadata.creationTimestamp, ...conditionsOf(request).map((each) => each.lastUpdateTime)];
  const lastChange = Math.max(...changes.map((time) => parseTime(time ?? '') ?? 0));
  return Math.min(lastChange + UNCHANGED_MS, certificateEnd(status?.certificate ?? ''));
}

function certificateEnd(encoded: string): number {
  if (encoded === '') return Infinity;
  try {
    return Date.parse(new X509Certificate(Buffer.from(encoded, 'base64')).validTo);
  } catch {
    // A certificate of another signer may be unparsable; the hour still applies.
    return Infinity;
  }
}
