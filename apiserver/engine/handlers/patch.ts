import { MEDIA_TYPE } from '../../../shared/names';
import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { Pace } from '../../../shared/concurrency/pace';
import type { JsonObject } from '../../../shared/object/clone';
import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { StatusError, badRequest, notFound } from '../../../shared/errors/status-error';
import { invalid } from '../../../shared/errors/field-error';
import { PatchError } from '../../../shared/patch/patch-error';
import { goDocument, restoreText } from './restore-text';
import { applyJsonPatch } from '../../../shared/patch/json-patch';
import { applyMergePatch, withoutNulls } from '../../../shared/patch/merge-patch';
import { applyStrategicPatch } from '../../../shared/patch/strategic';
import { restOfStrategicPatch } from '../../../shared/patch/strategic-rest';
import {
  DecodeError,
  decodeJson,
  hasKeptInfinite,
  holdsInfinite,
  OUT_OF_RANGE,
  withFractions,
  withNumberTexts,
} from '../../../shared/schema/decode';
import { firstInfinite } from '../../../shared/schema/exact-json';
import { inOrder, jsonBytesOf, typeMetaWords } from '../../../shared/schema/reader-words/document-words';
import { encodeObject } from '../../../shared/schema/encode';
import { DOCUMENT_BYTES_MAX, readerWords } from '../../../shared/schema/reader-words/reader-words';
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
import { refusalOf } from './refusal-of';
import { KindError, decodeValue, noTypeMetaWords } from './body';
import { metadataMisfit, typeMetaMisfit } from './custom-patched';
import { inDeclaredOrder, patchedText } from './patched-text';
import type { VerbContext } from './context';
import { nameRequired } from './custom-target';
import { withDistinctOwners } from '../registry/distinct-owners';
import type { ReportProblems } from './field-validation';
import { fieldValidationOf, reportingDuplicates } from './field-validation';
import { checkIdentity, refuseOther, namelessObject } from './place';
import { patchOptions } from './query';
import type { Target } from './target';
import { writeRequestOf } from './target';
import { ownKeyMap } from '../../../shared/own-key-map';

/** Applies a patch document to an object and returns the result; neither is changed. Throws PatchError. */
type Patcher = (type: MessageType, current: Readonly<JsonObject>, patch: unknown) => unknown;

const PATCHERS = ownKeyMap<Patcher>({
  [MEDIA_TYPE.jsonPatch]: (_type, current, document) => applyJsonPatch(current, document),
  [MEDIA_TYPE.mergePatch]: (_type, current, document) => applyMergePatch(current, document),
  [MEDIA_TYPE.strategicMergePatch]: applyStrategicPatch,
});

/** PATCH on an object or a subresource: 200 with the object as stored, 201 when an applied configuration created it. The patch is applied again whenever another writer was faster. */
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

/** The change that the body of a PATCH asks for; every type but an applied configuration. Of one that cannot be read the change throws BadRequest, as what is not there comes first. */
export async function readPatch(exchange: Exchange, target: PatchTarget, mediaType: string): Promise<Change> {
  const asked = fieldValidationOf(exchange);
  const bytes = await exchange.readBody();
  const { bounds } = exchange;
  keepBodyWithin(bounds, bytes.length, 'json');
  const pace = new Pace();
  const document = parse(bytes, mediaType);
  if (document instanceof StatusError) return refusalOf(target, document);
  keepJsonWithin(bounds, document, bytes.length);
  const report = reportingDuplicates(asked, bytes, 'json');
  exchange.audit?.requestObject(undefined, () => bytes);
  if (pace.isDue) await pace.rest();
  const change = changeBy(target, { mediaType, document, report, bounds });
  return (current) => withDistinctOwners(change(current), exchange.warnings);
}

/** Of what is no JSON, upstream tells as its readers of the types of patches do. */
function parse(bytes: Buffer, mediaType: string): unknown {
  // Upstream puts the texts of JSON and merge patches into that of the object, and reads no number before.
  const infinite = mediaType === MEDIA_TYPE.strategicMergePatch ? 'refused' : 'kept';
  try {
    return decodeJson(bytes, { fractions: 'remembered', infinite });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (mediaType === MEDIA_TYPE.mergePatch) return badRequest(`Invalid JSON Patch: ${why}`, error);
    const large = why === OUT_OF_RANGE ? firstInfinite(bytes.toString()) : undefined;
    if (large !== undefined)
      return badRequest(`strconv.ParseFloat: parsing "${large}": value out of range`, error);
    const isCutOff = mediaType === MEDIA_TYPE.strategicMergePatch && why === 'unexpected end of JSON input';
    if (!isCutOff) return badRequest(why, error);
    return badRequest(bytes.toString('latin1').trim() === '' ? 'EOF' : 'unexpected EOF', error);
  }
}

interface Patch {
  readonly mediaType: string;
  readonly document: unknown;
  readonly report: ReportProblems | undefined;
  readonly bounds: LoopBounds | undefined;
}

/** What a PATCH changes: an object, or what a subresource shows of one. */
export type PatchTarget = Target & { readonly isShown?: boolean };

function changeBy(target: PatchTarget, asked: Patch): Change {
  return (current) => {
    if (current === undefined) throw notFound(target.endpoint.row, target.name);
    const { endpoint } = target;
    const versioned: ApiObject = { ...current, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
    const patched = applied(versioned, asked, target);
    if (hasKeptInfinite(asked.document) && holdsInfinite(patched)) {
      throw misfitOf(new DecodeError(OUT_OF_RANGE), target, asked, versioned);
    }
    // Upstream's converter, which makes objects of what a strategic merge patch has merged, takes 1.0 for 1.
    const isConverted = endpoint.custom !== undefined || asked.mediaType === MEDIA_TYPE.strategicMergePatch;
    const fractions = isConverted ? undefined : withFractions(asked.document);
    if (fractions !== undefined) {
      const whole = asOwnKind(
        applied(versioned, { ...asked, document: fractions }, target),
        target,
        asked,
        versioned,
      );
      decodePatched(whole, target, { ...asked, report: undefined }, versioned);
    }
    // Copies are the only way in which little makes much.
    if (asked.mediaType === MEDIA_TYPE.jsonPatch) keepValuesWithin(asked.bounds, patched, Infinity);
    const next = decodePatched(asOwnKind(patched, target, asked, versioned), target, asked, versioned);
    if (target.isShown !== true) return checkIdentity(next, target);
    // As in a PUT: what is shown has to say its namespace itself.
    refuseOther(next, target);
    return next;
  };
}

/**
 * A strategic merge patch is laid over an object whose kind is known, whatever it says of that. Upstream reads what another patch leaves
 * without an apiVersion as its internal version, which has no place for metadata, and so for a name; of what is shown of a custom resource
 * there is none.
 */
function asOwnKind(patched: unknown, { endpoint, name }: Target, asked: Patch, current: ApiObject): unknown {
  if (endpoint.stored.custom !== undefined || !isJsonObject(patched)) return patched;
  const { kind, apiVersion } = patched as { readonly kind?: unknown; readonly apiVersion?: unknown };
  if (asked.mediaType !== MEDIA_TYPE.strategicMergePatch) {
    const isOwn = isAbsent(kind) || kind === endpoint.row.kind;
    if (isOwn && isAbsent(apiVersion)) throw namelessObject(name);
    return patched;
  }
  for (const given of [kind, apiVersion]) {
    if (isAbsent(given) || typeof given === 'string') continue;
    throw strategicMisfit(
      new DecodeError('expected a string', { misfit: { wanted: 'a string', given } }),
      restOfPatch(current, asked, { endpoint }),
    );
  }
  return { ...patched, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** What a patch makes of the types of fields is the patch's fault, and is answered as such. */
function decodePatched(value: unknown, target: Target, asked: Patch, current: ApiObject): ApiObject {
  const text = (): Buffer | undefined => customTextOf(current, asked, target);
  const nameless = target.endpoint.custom === undefined ? undefined : typeMetaMisfit(value, text);
  if (nameless !== undefined) throw invalidPatch(nameless.why, undefined, nameless.shown);
  try {
    const isConverted = asked.mediaType === MEDIA_TYPE.strategicMergePatch;
    return decodeValue(value, target.endpoint, asked.report, isConverted ? 'converter' : undefined);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { cause } = error;
    if (target.endpoint.custom !== undefined && cause instanceof DecodeError) {
      const { why, shown } = metadataMisfit(value, cause, text);
      throw invalidPatch(why, cause, shown);
    }
    if (cause instanceof DecodeError) throw misfitOf(cause, target, asked, current);
    // Another kind or version than that of the object.
    const isOther = error.status.reason === 'BadRequest' && target.endpoint.custom === undefined;
    if (!isOther) throw error;
    const why = cause instanceof KindError ? cause.message : error.message;
    throw invalidPatch(why, error, textOf(current, asked, target)?.toString());
  }
}

/** What a JSON or merge patch has made is shown, in the words of what reads it; where neither is known the place is told. */
function misfitOf(error: DecodeError, target: Target, asked: Patch, current: ApiObject): StatusError {
  if (asked.mediaType === MEDIA_TYPE.strategicMergePatch) {
    return strategicMisfit(error, restOfPatch(current, asked, target));
  }
  const text = textOf(current, asked, target);
  const words = text && readerWords(text, target.endpoint.type);
  return invalidPatch(words ?? error.message, error, text?.toString());
}

/** What merging has left of a strategic merge patch. */
function restOfPatch(
  current: ApiObject,
  { document }: Patch,
  { endpoint }: Pick<Target, 'endpoint'>,
): unknown {
  return isJsonObject(document) ? restOfStrategicPatch(endpoint.type, { ...current }, document) : document;
}

/** What is left of a strategic merge patch is shown whole, in the words of what restores objects. */
function strategicMisfit(error: DecodeError, document: unknown): StatusError {
  const restored = error.misfit === undefined ? undefined : restoreText(error.misfit);
  if (restored === undefined) return invalidPatch(error.message, error);
  return invalidPatch(restored, error, goDocument(document).slice(0, SHOWN_CHARS_MAX));
}

/** A patch may be as long as a request. */
const SHOWN_CHARS_MAX = 4096;

/** The JSON of what the patch has made of an object of a kind with a schema; undefined where that is too long to be told. */
function textOf(current: ApiObject, asked: Patch, target: Target): Buffer | undefined {
  const before = encodeObject(current);
  if (before.length > DOCUMENT_BYTES_MAX) return undefined;
  const metadata = inDeclaredOrder(current.metadata);
  const text = writtenText({ ...current, metadata }, asked, target);
  return text.length > DOCUMENT_BYTES_MAX ? undefined : text;
}

/** The same of a custom resource, which upstream writes with all names in order before the patch goes into it. */
function customTextOf(current: ApiObject, asked: Patch, target: Target): Buffer | undefined {
  const text = writtenText(inOrder(current) as ApiObject, asked, target);
  return text.length > DOCUMENT_BYTES_MAX ? undefined : text;
}

/** Upstream never reads the numbers of such a patch, and so shows them as they are written. */
function writtenText(current: ApiObject, asked: Patch, target: Target): Buffer {
  const document = withNumberTexts(asked.document);
  return patchedText(applied(current, { ...asked, document }, target), asked.mediaType, document);
}

function invalidPatch(why: string, cause: unknown, shown = ''): StatusError {
  const { reason, message, field } = invalid('patch', shown, why);
  return new StatusError('Invalid', ` "" is invalid: ${field}: ${message}`, {
    details: { causes: [{ reason, message, field }] },
    cause,
  });
}

/** A malformed patch is a BadRequest, one that does not apply is Invalid, too many operations are refused by their number. */
function applied(current: ApiObject, { mediaType, document }: Patch, target: Target): unknown {
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
      const text = jsonBytesOf(withoutNulls(document)).toString().slice(0, SHOWN_CHARS_MAX);
      throw invalidPatch(noTypeMetaWords(typeMetaWords(document) ?? error.message), error, text);
    }
    if (mediaType !== MEDIA_TYPE.jsonPatch) throw invalidPatch(error.message, error);
    // Upstream does not tell what it was.
    throw new StatusError('Invalid', 'the server rejected our request due to an error in our request', {
      details: {},
      cause: error,
    });
  }
}
