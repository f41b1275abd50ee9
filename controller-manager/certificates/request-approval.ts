import { RESOURCE } from '../../shared/api/resource-names';
import type { SubjectAccessReview } from '../../shared/api/types/authorization-v1';
import type { CertificateSigningRequest } from '../../shared/api/types/certificates-v1';
import { CertificateRequestError } from '../../shared/certs/certificate-request';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import type { ResourceOf, Sent } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { parseTime } from '../../shared/meta/time';
import { GROUP, SIGNER } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import {
  authorOf,
  isDecided,
  isIssued,
  requestIn,
  requestInformer,
  withCondition,
} from './certificate-request';
import { nodeClientProblem } from '../../shared/certs/signer-rules';

/** A kind of request that is approved automatically if its author may create the named subresource. */
interface Recognized {
  readonly subresource: string;
  readonly message: string;
}

const OF_ITSELF: Recognized = {
  subresource: 'selfnodeclient',
  message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
};
const OF_A_NODE: Recognized = {
  subresource: 'nodeclient',
  message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
};

const WORKERS = 5;
const ASK_AGAIN_MS = { min: 1_000, max: 1_000_000 } as const;

/** Approves client certificate requests of nodes whose authors have the permission. */
export async function runRequestApproval(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  await runObjectLoop(
    {
      context,
      informer: requestInformer(context),
      workers: WORKERS,
      flowOf: authorOf,
      concerns: isOpen,
      reconcile: async (request, stop) => approveIfAllowed({ ...context, clock }, request, stop),
    },
    signal,
  );
}

async function approveIfAllowed(
  { client, log, clock }: ControllerContext & { readonly clock: Clock },
  request: CertificateSigningRequest,
  stop: AbortSignal,
): Promise<Requeue | undefined> {
  const { name } = request.metadata;
  const recognized = recognizedAs(request);
  for (const each of recognized) {
    if (!(await isAllowed(client, { request, subresource: each.subresource }, stop))) continue;
    if (await approve(client, { request, message: each.message }, stop)) {
      log.info({ request: name, as: each.subresource }, 'certificate signing request approved');
    }
    return undefined;
  }
  if (recognized.length === 0) return undefined;
  log.debug(
    { request: name },
    'certificate signing request of a node not approved: its requester is not authorized',
  );
  return { requeueAfterMs: askAgainAfterMs(request, clock) };
}

function isOpen(request: CertificateSigningRequest): boolean {
  const isForNodes = request.spec.signerName === SIGNER.apiServerClientNodeAgent;
  return isForNodes && !isIssued(request) && !isDecided(request);
}

/** Returns the approvals to try, in order. */
function recognizedAs(request: CertificateSigningRequest): readonly Recognized[] {
  const { usages = [], username } = request.spec;
  try {
    const asked = requestIn(request);
    if (nodeClientProblem(asked, usages) !== undefined) return [];
    return username === asked.commonName ? [OF_ITSELF, OF_A_NODE] : [OF_A_NODE];
  } catch (error) {
    if (error instanceof CertificateRequestError) return [];
    throw error;
  }
}

const REVIEWS: ResourceOf<SubjectAccessReview> = {
  group: GROUP.authorization,
  version: 'v1',
  resource: 'subjectaccessreviews',
};

async function isAllowed(
  client: Client,
  { request, subresource }: { readonly request: CertificateSigningRequest; readonly subresource: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { username, uid, groups, extra } = request.spec;
  const { group, resource } = RESOURCE.certificatesigningrequests;
  const review: Sent<SubjectAccessReview> = {
    apiVersion: apiVersionOf(REVIEWS),
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: {
      user: username,
      uid,
      groups,
      extra,
      resourceAttributes: { group, resource, subresource, verb: 'create' },
    },
  };
  return (await client.create(REVIEWS, review, { signal })).status?.allowed === true;
}

/** Returns false for a deleted or replaced request, which has its own event. */
async function approve(
  client: Client,
  { request, message }: { readonly request: CertificateSigningRequest; readonly message: string },
  signal: AbortSignal,
): Promise<boolean> {
  const condition = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
  try {
    await client.update(RESOURCE.certificatesigningrequests, withCondition(request, condition), {
      subresource: 'approval',
      signal,
    });
    return true;
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
    return false;
  }
}

/** The author may get the permission later, so the next attempt waits as long as the request is old. */
function askAgainAfterMs({ metadata }: CertificateSigningRequest, clock: Clock): number {
  const age = clock.now() - (parseTime(metadata.creationTimestamp ?? '') ?? clock.now());
  return Math.min(Math.max(age, ASK_AGAIN_MS.min), ASK_AGAIN_MS.max);
}
