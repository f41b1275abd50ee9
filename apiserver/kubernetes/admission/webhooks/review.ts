import { decodeJson, decodeObject } from '../../../../shared/schema/decode';
import { messageType } from '../../../../shared/schema/types';
import { GROUP } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { AdmissionResponse, AdmissionReview } from '../../../../shared/api/types/admission-v1';
import type { Status } from '../../../../shared/api/types/meta-v1';
import type { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import { requestOf } from './reviewed-request';
import type { ReviewVersion, WebhookType } from './webhook';

/** The question to a webhook. */
export interface Question {
  readonly uid: string;
  readonly version: ReviewVersion;
  readonly body: Buffer;
}

export interface QuestionParts {
  readonly attributes: AdmissionAttributes;
  readonly invocation: Invocation;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly uid: string;
  readonly version: ReviewVersion;
}

const NULL = Buffer.from('null');

/** Builds the AdmissionReview for one webhook. */
export function questionOf({
  attributes,
  invocation: { endpoint },
  object,
  oldObject,
  uid,
  version,
}: QuestionParts): Question {
  const { dryRun, options, ...request } = requestOf(attributes, endpoint);
  const head = { uid, ...request };
  const envelope = `{"kind":"AdmissionReview","apiVersion":"${GROUP.admission}/${version}","request":`;
  const body = Buffer.concat([
    Buffer.from(`${envelope}${JSON.stringify(head).slice(0, -1)},"object":`),
    object?.json(endpoint) ?? NULL,
    Buffer.from(',"oldObject":'),
    oldObject?.json(endpoint) ?? NULL,
    Buffer.from(`,"dryRun":${String(dryRun)},"options":${JSON.stringify(options)}}}`),
  ]);
  return { uid, version, body };
}

/** The answer of a webhook. */
export interface WebhookResult {
  readonly isAllowed: boolean;
  /** The Status of a refusal. */
  readonly status: Partial<Status>;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** The bytes of a patch; undefined without one. */
  readonly patch: Buffer | undefined;
  /** Checked only if there is a patch. */
  readonly patchType: string;
}

/** The only known type of patches. */
export const PATCH_TYPE = 'JSONPatch';

/** v1beta1 has the same fields. */
const REVIEW = messageType('admission/v1.AdmissionReview');

/**
 * Parses the answer. Throws an Error that says what is wrong with it. Source: VerifyAdmissionResponse of
 * kube-apiserver v1.36.
 */
export function resultIn(
  body: Buffer,
  question: Pick<Question, 'uid' | 'version'>,
  type: WebhookType,
): WebhookResult {
  const review = reviewIn(body);
  const { response } = review;
  if (response === undefined) throw new Error('webhook response was absent');
  // In v1beta1, a type may be absent, and no uid and patch is checked.
  const isStrict = question.version === 'v1';
  if (isStrict && response.uid !== question.uid) {
    throw new Error(
      `expected response.uid=${JSON.stringify(question.uid)}, got ${JSON.stringify(response.uid)}`,
    );
  }
  checkType(review, question.version);
  const isMutating = type === 'mutating';
  if (isStrict) checkPatch(response, isMutating);
  const { allowed, status = {}, warnings = [], auditAnnotations = {}, patch = '', patchType = '' } = response;
  return {
    isAllowed: allowed,
    status,
    warnings,
    auditAnnotations,
    patch: isMutating && patch !== '' ? Buffer.from(patch, 'base64') : undefined,
    patchType: isStrict ? patchType : PATCH_TYPE,
  };
}

function reviewIn(body: Buffer): AdmissionReview {
  let value: unknown;
  try {
    value = decodeJson(body);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`couldn't get version/kind; json parse error: ${message}`, { cause: error });
  }
  return decodeObject(REVIEW, value).object;
}

function checkType({ kind = '', apiVersion = '' }: AdmissionReview, version: ReviewVersion): void {
  const wanted = `${GROUP.admission}/${version}`;
  const isAbsent = (given: string): boolean => version !== 'v1' && given === '';
  const isKind = kind === 'AdmissionReview' || isAbsent(kind);
  if (isKind && (apiVersion === wanted || isAbsent(apiVersion))) return;
  const found = apiVersion === '' || apiVersion.includes('/') ? apiVersion || '/' : `/${apiVersion}`;
  throw new Error(`expected webhook response of ${wanted}, Kind=AdmissionReview, got ${found}, Kind=${kind}`);
}

function checkPatch({ patch = '', patchType }: AdmissionResponse, isMutating: boolean): void {
  if (!isMutating) {
    if (patch !== '') throw new Error('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (patch !== '' && patchType === undefined) {
    throw new Error('webhook returned response.patch but not response.patchType');
  }
  if (patch === '' && patchType !== undefined) {
    throw new Error('webhook returned response.patchType but not response.patch');
  }
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

const CODE_MIN = 400;
const CODE_MAX = 599;

/** Returns the HTTP code of a refusal: 400 unless the webhook sets an error code. */
export function refusalCode({ code = CODE_MIN }: Partial<Status>): number {
  return code < CODE_MIN || code > CODE_MAX ? CODE_MIN : code;
}
