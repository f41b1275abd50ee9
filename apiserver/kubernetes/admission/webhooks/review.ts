import { decodeJson } from '../../../../shared/schema/decode';
import { GROUP } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { AdmissionResponse, AdmissionReview } from '../../../../shared/api/types/admission-v1';
import type { Status } from '../../../../shared/api/types/meta-v1';
import {
  fieldsOf,
  integer,
  optionalRecord,
  optionalText,
  strings,
  text,
} from '../../../../shared/object/accessors';
import type { Unchecked } from '../../../../shared/object/values';
import type { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import { kindAt, namespaceOf, resourceAt, resourceEndpoint } from './rules';
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
  const { operation } = attributes;
  const { subresource, user, dryRun } = attributes.write;
  const requested = resourceEndpoint(attributes);
  const name = nameOf(attributes);
  const namespace = namespaceOf(attributes);
  const head = {
    uid,
    kind: kindAt(endpoint, subresource),
    resource: resourceAt(endpoint),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindAt(requested, subresource),
    requestResource: resourceAt(requested),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: user.groups }),
      ...(Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
    },
  };
  const envelope = `{"kind":"AdmissionReview","apiVersion":"${GROUP.admission}/${version}","request":`;
  const body = Buffer.concat([
    Buffer.from(`${envelope}${JSON.stringify(head).slice(0, -1)},"object":`),
    object?.json(endpoint) ?? NULL,
    Buffer.from(',"oldObject":'),
    oldObject?.json(endpoint) ?? NULL,
    Buffer.from(`,"dryRun":${String(dryRun)},"options":${JSON.stringify(optionsOf(attributes))}}}`),
  ]);
  return { uid, version, body };
}

/** A new object has only its client's name until the server generates one. */
function nameOf({ write: { subresource, name }, operation, object }: AdmissionAttributes): string {
  return operation === 'CREATE' && subresource === '' ? (object?.metadata.name ?? '') : name;
}

const OPTIONS_KIND = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;

function optionsOf({
  write: { dryRun, fieldManager, deleteOptions },
  operation,
}: AdmissionAttributes): object | null {
  if (operation === 'CONNECT') return null;
  const { dryRun: _flag, ...ofDeletion } = deleteOptions ?? {};
  return {
    kind: OPTIONS_KIND[operation],
    apiVersion: `${GROUP.meta}/v1`,
    ...ofDeletion,
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager === undefined ? {} : { fieldManager }),
  };
}

/** The answer of a webhook. */
export interface WebhookVerdict {
  readonly isAllowed: boolean;
  /** The Status of a refusal. */
  readonly status: Unchecked<Status>;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** The JSON of a patch; undefined without one. */
  readonly patch: Buffer | undefined;
}

const PATCH_TYPE = 'JSONPatch';

/** Parses the answer. Throws an Error with the message of kube-apiserver v1.21. */
export function verdictIn(
  body: Buffer,
  question: Pick<Question, 'uid' | 'version'>,
  type: WebhookType,
): WebhookVerdict {
  const review = parsed(body);
  if (optionalRecord(review.response) === undefined) throw new Error('webhook response was absent');
  const response = fieldsOf<AdmissionResponse>(review.response);
  const isStrict = question.version === 'v1';
  if (isStrict) checkAnswered(review, response, question);
  const { allowed } = response;
  if (allowed !== undefined && allowed !== null && typeof allowed !== 'boolean') {
    throw new Error('response.allowed is no boolean');
  }
  const patch = patchOf(response, { isStrict, isMutating: type === 'mutating' });
  return {
    isAllowed: allowed === true,
    status: fieldsOf<Status>(response.status),
    warnings: strings(response.warnings),
    auditAnnotations: textsOf(response.auditAnnotations),
    patch,
  };
}

function textsOf(map: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(optionalRecord(map) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

function parsed(body: Buffer): Unchecked<AdmissionReview> {
  let value: unknown;
  try {
    value = decodeJson(body);
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (optionalRecord(value) === undefined) {
    throw new Error("couldn't get version/kind; json parse error: it is no object");
  }
  return fieldsOf<AdmissionReview>(value);
}

/** v1beta1 has no such checks. */
function checkAnswered(
  review: Unchecked<AdmissionReview>,
  response: Unchecked<AdmissionResponse>,
  { uid, version }: Pick<Question, 'uid' | 'version'>,
): void {
  const given = text(response.uid);
  if (given !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
  }
  const wanted = `${GROUP.admission}/${version}`;
  const [kind, apiVersion] = [text(review.kind), text(review.apiVersion)];
  if (kind === 'AdmissionReview' && apiVersion === wanted) return;
  const found = apiVersion === '' || apiVersion.includes('/') ? apiVersion || '/' : `/${apiVersion}`;
  throw new Error(`expected webhook response of ${wanted}, Kind=AdmissionReview, got ${found}, Kind=${kind}`);
}

function patchOf(
  response: Unchecked<AdmissionResponse>,
  { isStrict, isMutating }: { readonly isStrict: boolean; readonly isMutating: boolean },
): Buffer | undefined {
  const patch = bytesOf(response.patch);
  const type = optionalText(response.patchType);
  if (!isMutating) {
    if (!isStrict) return undefined;
    if (patch !== undefined) throw new Error('validating webhook may not return response.patch');
    if (type !== undefined) throw new Error('validating webhook may not return response.patchType');
    return undefined;
  }
  if (!isStrict) return patch;
  if (patch !== undefined && type === undefined) {
    throw new Error('webhook returned response.patch but not response.patchType');
  }
  if (patch === undefined && type !== undefined) {
    throw new Error('webhook returned response.patchType but not response.patch');
  }
  if (type === '') throw new Error('webhook returned invalid response.patchType of ""');
  if (type !== undefined && type !== PATCH_TYPE)
    throw new Error(`unsupported patch type ${JSON.stringify(type)}`);
  return patch;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const BASE64_BLOCK = 4;

/** Returns undefined for an absent or empty value. */
function bytesOf(value: unknown): Buffer | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const plain = typeof value === 'string' ? value.replaceAll(/[\r\n]/g, '') : '';
  if (plain === '' || plain.length % BASE64_BLOCK !== 0 || !BASE64.test(plain)) {
    throw new Error('response.patch is not base64');
  }
  return Buffer.from(plain, 'base64');
}

const CODE_MIN = 400;
const CODE_MAX = 599;

/** Returns the HTTP code of a refusal: 400 unless the webhook sets an error code. */
export function refusalCode(status: Unchecked<Status>): number {
  const code = integer(status.code) ?? CODE_MIN;
  return code < CODE_MIN || code > CODE_MAX ? CODE_MIN : code;
}
