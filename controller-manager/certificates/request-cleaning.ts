import { RESOURCE } from '../../shared/api/resource-names';
import type { CertificateSigningRequest } from '../../shared/api/types/certificates-v1';
import { X509Certificate } from 'node:crypto';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { parseTime } from '../../shared/meta/time';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import { conditionsOf, requestInformer } from './certificate-request';

/** How long a request stays after its state changed for the last time, whatever its state, in milliseconds. */
const UNCHANGED_MS = 3_600_000;
const WORKERS = 1;

/** Deletes certificate requests that nobody needs any more. */
export async function runRequestCleaning(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = systemClock,
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
    // One that somebody decides at this moment stays.
    const preconditions = { uid, resourceVersion };
    await client.delete(RESOURCE.certificatesigningrequests, { name }, { preconditions }, { signal: stop });
    log.info({ request: name }, 'old certificate signing request deleted');
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
  }
  return undefined;
}

/** When the request is to go, in milliseconds since the epoch: an hour after its last change, or with the end of its certificate. */
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
    // What another signer wrote there need not be readable; the hour counts all the same.
    return Infinity;
  }
}
