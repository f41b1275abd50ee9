import { RESOURCE } from '../../shared/api/resource-names';
import type { CertificateSigningRequest } from '../../shared/api/types/certificates-v1';
import type { CertificateRequest } from '../../shared/certs/certificate-request';
import { CertificateRequestError } from '../../shared/certs/certificate-request';
import { signCertificateRequest } from '../../shared/certs/sign-certificate-request';
import { hasCode } from '../../shared/client/status';
import { untilAborted } from '../../shared/concurrency/abort';
import type { Clock } from '../../shared/concurrency/clock';
import type { Sent } from '../../shared/object/object';
import type { ControllerContext } from '../runtime/controller';
import { runObjectLoop } from '../runtime/object-loop';
import {
  authorOf,
  hasCondition,
  isIssued,
  requestIn,
  requestInformer,
  withCondition,
} from './certificate-request';
import { SIGNER_RULES } from '../../shared/certs/signer-rules';
import type { Signing } from '../runtime/controller-options';

const WORKERS = 5;

/** Signs approved requests of the built-in signers. Without an authority it does nothing. */
export async function runRequestSigning(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { signing } = context.options;
  if (signing !== undefined) {
    await signRequests({ ...context, signing, clock }, signal);
    return;
  }
  context.log.info({}, 'certificate signing is disabled: no CA certificate was given');
  await untilAborted(new Promise<never>(() => undefined), signal).catch(() => undefined);
}

interface SigningContext extends ControllerContext {
  readonly signing: Signing;
  readonly clock: Clock;
}

async function signRequests(context: SigningContext, signal: AbortSignal): Promise<void> {
  const { signing } = context;
  const isReady = (request: CertificateSigningRequest): boolean =>
    isToBeSigned(request) && signing.authorityOf(request.spec.signerName) !== undefined;
  const reconcile = async (request: CertificateSigningRequest, stop: AbortSignal): Promise<undefined> => {
    const asked = readable(request, context);
    if (asked === undefined) return;
    const problem = SIGNER_RULES.get(request.spec.signerName)?.(asked, request.spec.usages ?? []);
    if (problem === undefined) await sign(request, { ...context, asked }, stop);
    else await refuse(request, { ...context, problem }, stop);
  };

  const informer = requestInformer(context);
  await runObjectLoop(
    { context, informer, workers: WORKERS, flowOf: authorOf, concerns: isReady, reconcile },
    signal,
  );
}

function isToBeSigned(request: CertificateSigningRequest): boolean {
  const isApproved = hasCondition(request, 'Approved') && !hasCondition(request, 'Denied');
  return isApproved && !hasCondition(request, 'Failed') && !isIssued(request);
}

/** Returns undefined for a request that cannot be parsed. It never changes, so there is no retry. */
function readable(
  request: CertificateSigningRequest,
  { log }: ControllerContext,
): CertificateRequest | undefined {
  try {
    return requestIn(request);
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    log.warn(
      { request: request.metadata.name, error: error.message },
      'failed to parse a certificate signing request',
    );
    return undefined;
  }
}

async function sign(
  request: CertificateSigningRequest,
  { client, log, signing, clock, asked }: SigningContext & { readonly asked: CertificateRequest },
  signal: AbortSignal,
): Promise<void> {
  const { signerName, usages = [] } = request.spec;
  const authority = await signing.authorityOf(signerName)?.current();
  if (authority === undefined) return;
  const { lifetimeMs } = signing;
  const pem = signCertificateRequest(authority, asked, { usages, lifetimeMs, clock });
  const certificate = Buffer.from(pem, 'latin1').toString('base64');
  if (!(await writeStatus(client, { ...request, status: { ...request.status, certificate } }, signal)))
    return;
  log.info(
    { request: request.metadata.name, signer: signerName, commonName: asked.commonName },
    'certificate signing request signed',
  );
}

async function refuse(
  request: CertificateSigningRequest,
  { client, log, problem }: SigningContext & { readonly problem: string },
  signal: AbortSignal,
): Promise<void> {
  const { signerName } = request.spec;
  log.warn(
    { request: request.metadata.name, signer: signerName, problem },
    'certificate signing request violates the rules of its signer',
  );
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: problem,
  };
  await writeStatus(client, withCondition(request, condition), signal);
}

/** Returns false for a deleted or replaced request, which has its own event. */
async function writeStatus(
  client: ControllerContext['client'],
  request: Sent<CertificateSigningRequest>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.updateStatus(RESOURCE.certificatesigningrequests, request, { signal });
    return true;
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
    return false;
  }
}
