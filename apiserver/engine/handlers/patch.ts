import { MEDIA_TYPE } from '../../../shared/names';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { Pace } from '../../../shared/concurrency/pace';
import type { JsonObject } from '../../../shared/object/clone';
import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { StatusError, badRequest, notFound } from '../../../shared/errors/status-error';
import { invalid } from '../../../shared/errors/field-error';
import { PatchError } from '../../../shared/patch/patch-error';
import { applyJsonPatch } from '../../../shared/patch/json-patch';
import { applyMergePatch } from '../../../shared/patch/merge-patch';
import { applyStrategicPatch } from '../../../shared/patch/strategic';
import type { JsonDocument } from '../../../shared/schema/decode';
import {
  DecodeError,
  decodeJsonDocument,
  containsInfinite,
  OUT_OF_RANGE,
  unexpectedType,
} from '../../../shared/schema/decode';
import type { MessageType } from '../../../shared/schema/types';
import { negotiatePatch } from '../encoding/negotiation';
import type { Answer, Exchange } from '../request/exchange';
import type { LoopBounds } from '../request/loop-bounds';
import { keepBodyWithin, keepJsonWithin, keepValuesWithin } from '../request/loop-bounds';
import type { Change } from '../registry/write-attempt';
import type { Update } from '../registry/update';
import { updateObject } from '../registry/update';
import { objectAnswers } from './answers';
import { patchMediaTypes, readApplyPatch } from './apply';
import { refusalOf, checkIdentity, refuseOther, namelessObject } from './place';
import { KindError, decodeValue, missingTypeMeta, typeMetaProblem } from './body';
import type { VerbContext } from './context';
import { nameRequired, writeRequestOf } from './target';
import { withDistinctOwners } from '../registry/distinct-owners';
import type { ReportProblems } from './field-validation';
import { fieldValidationOf, reportingDuplicates } from './field-validation';
import { patchOptions } from './query';
import type { Target } from './target';
import { ownKeyMap } from '../../../shared/own-key-map';

/** Applies a patch document to an object and returns the result; neither is changed. Throws PatchError. */
type Patcher = (type: MessageType, current: Readonly<JsonObject>, patch: unknown) => unknown;

const PATCHERS = ownKeyMap<Patcher>({
  [MEDIA_TYPE.jsonPatch]: (_type, current, document) => applyJsonPatch(current, document),
  [MEDIA_TYPE.mergePatch]: (_type, current, document) => applyMergePatch(current, document),
  [MEDIA_TYPE.strategicMergePatch]: applyStrategicPatch,
});

/**
 * PATCH of an object or a subresource: 200 with the object as stored, 201 if an applied configuration
 * created it. The patch is applied again whenever another writer was faster.
 */
export async function patch(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const supported = patchMediaTypes(target, context.store.serverSideApply);
  const mediaType = negotiatePatch(exchange.headers['content-type'], supported);
  if (target.name === '') throw nameRequired();
  const answers = objectAnswers(exchange, target);
  const isApply = mediaType === MEDIA_TYPE.applyPatch;
  const dryRun = patchOptions(exchange.query, isApply);
  const request = writeRequestOf(exchange, target, dryRun);
  const update: Update = isApply
    ? await readApplyPatch(context, exchange, { target, request })
    : { change: await readPatch(exchange, target, mediaType), options: { creates: 'never' } };
  const written = await updateObject(context.store, request, update, exchange.signal);
  return answers.written(written.kind === 'created' ? 201 : 200, written);
}

/**
 * The change of a PATCH of any type but apply. For a malformed patch, the change throws BadRequest, so that
 * NotFound comes first.
 */
export async function readPatch(exchange: Exchange, target: PatchTarget, mediaType: string): Promise<Change> {
  const asked = fieldValidationOf(exchange);
  const bytes = await exchange.readBody();
  const { bounds } = exchange;
  keepBodyWithin(bounds, bytes.length, 'json');
  const pace = new Pace();
  const document = parse(bytes, mediaType);
  if (document instanceof StatusError) return refusalOf(target, document);
  keepJsonWithin(bounds, document.value, bytes.length);
  const report = reportingDuplicates(asked, bytes, 'json');
  exchange.audit?.requestObject(undefined, () => bytes);
  if (pace.isDue) await pace.rest();
  const change = changeBy(target, { mediaType, bytes, document, report, bounds });
  return (current) => withDistinctOwners(change(current), exchange.warnings);
}

/** Parses the body of a PATCH; returns BadRequest for malformed JSON. */
function parse(bytes: Buffer, mediaType: string): JsonDocument | StatusError {
  // Upstream splices the text of a JSON or merge patch into that of the object, and parses its numbers after that.
  const allowInfinite = mediaType !== MEDIA_TYPE.strategicMergePatch;
  try {
    return decodeJsonDocument(bytes, { allowInfinite });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return badRequest(mediaType === MEDIA_TYPE.mergePatch ? `Invalid JSON Patch: ${why}` : why, error);
  }
}

interface Patch {
  readonly mediaType: string;
  /** The body, which refusals show. */
  readonly bytes: Buffer;
  readonly document: JsonDocument;
  readonly report: ReportProblems | undefined;
  readonly bounds: LoopBounds | undefined;
}

/** The target of a PATCH: an object, or a view of one. */
export type PatchTarget = Target & { readonly isShown?: boolean };

function changeBy(target: PatchTarget, asked: Patch): Change {
  return (current) => {
    if (current === undefined) throw notFound(target.endpoint.row, target.name);
    const { endpoint } = target;
    const versioned: ApiObject = { ...current, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
    const { value, hasInfinite, parseNumberTexts } = asked.document;
    // The converter of upstream, which makes objects of strategic merge results, accepts 1.0 as an integer.
    const isConverted = endpoint.custom !== undefined || asked.mediaType === MEDIA_TYPE.strategicMergePatch;
    const texts = isConverted ? undefined : parseNumberTexts?.();
    const patched = applied(versioned, texts ?? value, asked, target);
    if (hasInfinite && containsInfinite(patched)) throw invalidPatch(OUT_OF_RANGE, asked);
    // Only copy operations can amplify a small patch (denial of service).
    if (asked.mediaType === MEDIA_TYPE.jsonPatch) keepValuesWithin(asked.bounds, patched, Infinity);
    const next = decodePatched(asOwnKind(patched, target, asked), target, asked);
    if (target.isShown !== true) return checkIdentity(next, target);
    // As in a PUT, a view must have its namespace.
    refuseOther(next, target);
    return next;
  };
}

/**
 * The kind of a strategic merge patch is that of the object, whatever the patch says. Upstream reads the
 * result of another patch without an apiVersion as its internal version, which has no metadata and so no
 * name; the views of custom resources have no internal version.
 */
function asOwnKind(patched: unknown, { endpoint, name }: Target, asked: Patch): unknown {
  if (endpoint.stored.custom !== undefined || !isJsonObject(patched)) return patched;
  const { kind, apiVersion } = patched as { readonly kind?: unknown; readonly apiVersion?: unknown };
  if (asked.mediaType !== MEDIA_TYPE.strategicMergePatch) {
    const isOwn = isAbsent(kind) || kind === endpoint.row.kind;
    if (isOwn && isAbsent(apiVersion)) throw namelessObject(name);
    return patched;
  }
  for (const [field, given] of Object.entries({ kind, apiVersion })) {
    if (isAbsent(given) || typeof given === 'string') continue;
    const error = unexpectedType('string', given).locate(field);
    throw invalidPatch(error.message, asked, error);
  }
  return { ...patched, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Reads the result of a patch as an object. Throws Invalid for the field `patch` where it does not fit the kind. */
function decodePatched(value: unknown, target: Target, asked: Patch): ApiObject {
  if (target.endpoint.custom !== undefined && isJsonObject(value)) {
    const problem = typeMetaProblem(value) ?? missingTypeMeta(value);
    if (problem !== undefined) throw invalidPatch(problem, asked);
  }
  try {
    const isConverted = asked.mediaType === MEDIA_TYPE.strategicMergePatch;
    const hasNumberTexts = asked.document.parseNumberTexts !== undefined;
    return decodeValue(value, target.endpoint, asked.report, isConverted ? 'converter' : { hasNumberTexts });
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { cause } = error;
    if (cause instanceof DecodeError) throw invalidPatch(cause.message, asked, cause);
    // The result has another kind or version than the object.
    const isOther = error.status.reason === 'BadRequest' && target.endpoint.custom === undefined;
    if (!isOther) throw error;
    throw invalidPatch(cause instanceof KindError ? cause.message : error.message, asked, error);
  }
}

/** Longest part of a patch that a refusal shows, in bytes. */
const SHOWN_BYTES_MAX = 4_096;

/** Returns Invalid for the field `patch`, with the beginning of the patch as the client sent it. */
function invalidPatch(why: string, { bytes }: Pick<Patch, 'bytes'>, cause?: unknown): StatusError {
  const shown = bytes.toString('utf8', 0, SHOWN_BYTES_MAX);
  const { reason, message, field } = invalid('patch', shown, why);
  return new StatusError('Invalid', ` "" is invalid: ${field}: ${message}`, {
    details: { causes: [{ reason, message, field }] },
    cause,
  });
}

/**
 * A malformed patch is a BadRequest, one that does not apply is Invalid, and too many operations are
 * refused.
 */
function applied(current: ApiObject, document: unknown, asked: Patch, target: Target): unknown {
  const { mediaType } = asked;
  try {
    const { endpoint } = target;
    return STEP_TIMES.run('patch', () => PATCHERS.get(mediaType)?.(endpoint.type, current, document));
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.kind === 'malformed') throw badRequest(error.message, error);
    if (error.kind === 'too-many') {
      throw new StatusError('RequestEntityTooLarge', `Request entity too large: ${error.message}`, {
        cause: error,
      });
    }
    if (mediaType === MEDIA_TYPE.mergePatch && Array.isArray(document)) {
      throw invalidPatch(typeMetaProblem(document) ?? error.message, asked, error);
    }
    if (mediaType !== MEDIA_TYPE.jsonPatch) throw invalidPatch(error.message, asked, error);
    // Upstream does not report the cause.
    throw new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
      details: {},
      cause: error,
    });
  }
}
