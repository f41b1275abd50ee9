import { MEDIA_TYPE } from '../../../shared/names';
import { defined } from '../../../shared/defined';
import { Pace } from '../../../shared/concurrency/pace';
import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { StatusError, badRequest, conflict } from '../../../shared/errors/status-error';
import { DecodeError, decodeJson } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { withStoredEmpties } from '../../../shared/schema/stored-empties';
import { parseYaml } from '../encoding/yaml';
import { boolParameter } from '../request/bool-parameter';
import type { Exchange } from '../request/exchange';
import type { LoopBounds } from '../request/loop-bounds';
import { keepBodyWithin, keepValuesWithin } from '../request/loop-bounds';
import type { ApplyRequest } from '../registry/fieldmanager/apply';
import { applied } from '../registry/field-tracking';
import type { Update } from '../registry/update';
import type { WriteRequest } from '../registry/write-request';
import { decodeValue } from './body';
import type { VerbContext } from './context';
import { fieldValidationOf, reportingDuplicates } from './field-validation';
import { checkIdentity, refusalOf } from './place';
import type { Target } from './target';

/**
 * The update of a PATCH with an applied configuration; it creates a missing object. Throws BadRequest for a
 * configuration that is malformed or does not fit the kind; the change throws Conflict if it changes fields
 * of other managers, unless it is forced.
 */
export async function readApplyPatch(
  context: VerbContext,
  exchange: Exchange,
  { target, request }: { readonly target: Target; readonly request: WriteRequest },
): Promise<Update> {
  let apply: Awaited<ReturnType<typeof readApply>>;
  try {
    apply = await readApply(exchange, target);
  } catch (error) {
    // NotFound comes first, unless the apply creates the object.
    if (target.subresource === '' || !(error instanceof StatusError)) throw error;
    return { change: refusalOf(target, error), options: { creates: 'always' } };
  }
  const { read, ...asked } = apply;
  const readNew = (merged: object): ApiObject => read(withoutForeignUid(merged, target));
  return {
    change: (live) =>
      refusingWrongTypes(target, () =>
        applied(context.store, request, { ...asked, live, read: live === undefined ? readNew : read }),
      ),
    options: { creates: 'always', isTracked: true },
  };
}

/** Throws Conflict for a configuration with a uid if the object does not exist. */
function withoutForeignUid(merged: object, { endpoint, name }: Target): object {
  const { uid = '' } = (merged as Partial<ApiObject>).metadata ?? {};
  if (uid === '') return merged;
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
  throw conflict(endpoint.row, name, why);
}

/** Reads the configuration. Throws BadRequest for one that is malformed or of another kind. */
export async function readApply(
  exchange: Exchange,
  target: Target,
): Promise<Pick<ApplyRequest, 'config' | 'force' | 'read'>> {
  const asked = fieldValidationOf(exchange);
  const bytes = await exchange.readBody();
  const pace = new Pace();
  const { value, syntax } = parse(bytes, exchange.bounds);
  keepValuesWithin(exchange.bounds, value, bytes.length);
  const config = configOf(value, target);
  // As upstream, unknown fields are found when their owners are: they are in no schema.
  reportingDuplicates(asked, bytes, syntax)?.([]);
  exchange.audit?.requestObject(undefined, () => encodeObject(config));
  const force = boolParameter(exchange.query, 'force');
  const { type, applyDefaults } = target.endpoint;
  // Upstream reads a configuration without the decoder that drops unknown fields: their types refuse them.
  const endpoint = {
    ...target.endpoint,
    ...defined({ applyDefaults: applyDefaults && ((object: ApiObject) => applyDefaults(object, 'kept')) }),
  };
  const read = (merged: object): ApiObject =>
    checkIdentity(withStoredEmpties(type, decodeValue(merged, endpoint, undefined, 'converter')), target);
  if (pace.isDue) await pace.rest();
  return { config, force, read };
}

/** A field of a wrong type may only show in a conversion to the version of another manager. */
function refusingWrongTypes({ endpoint }: Target, change: () => ApiObject): ApiObject {
  const { kind, version } = endpoint.row;
  try {
    return change();
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const what = `${kind} in version ${JSON.stringify(version)}`;
    throw badRequest(`${what} cannot be handled as a ${kind}: ${error.message}`, error);
  }
}

/** The configuration with metadata as an object, and with the kind and version of the path. */
function configOf(value: unknown, { endpoint }: Target): ApiObject {
  const given = value ?? {};
  if (!isJsonObject(given)) throw badRequest(`error decoding YAML: ${noObject(given)}`);
  const { kind, apiVersion, metadata = null } = given as Readonly<Record<string, unknown>>;
  const expected = endpoint.apiVersion;
  if (apiVersion !== expected) {
    const version = typeof apiVersion === 'string' ? apiVersion : '';
    const versions = `Specified patch version: ${version}, expected: ${expected}`;
    throw badRequest(`Incorrect version specified in apply patch. ${versions}`);
  }
  if (typeof kind !== 'string' || kind === '')
    throw badRequest("Object 'Kind' is missing in the configuration");
  if (kind !== endpoint.row.kind) {
    throw badRequest(`a configuration of kind ${kind} cannot be applied to a ${endpoint.row.kind}`);
  }
  if (metadata !== null && !isJsonObject(metadata))
    throw badRequest('metadata of the configuration is no object');
  const { managedFields, ...rest } = metadata ?? {};
  const kept = saysNoOwners(managedFields) ? rest : metadata;
  return { ...given, metadata: kept } as ApiObject;
}

/** A list with a null item is read as absent. */
function saysNoOwners(managedFields: unknown): boolean {
  if (managedFields === undefined || managedFields === null) return true;
  return Array.isArray(managedFields) && managedFields.includes(null);
}

/** The error of upstream for JSON that is not an object. */
function noObject(value: unknown): string {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

interface Document {
  readonly value: unknown;
  readonly syntax: 'json' | 'yaml';
}

/** JSON is YAML: the faster and exact JSON parser is tried first. */
function parse(bytes: Buffer, bounds: LoopBounds | undefined): Document {
  try {
    if (bytes[0] === OPEN_BRACE) {
      keepBodyWithin(bounds, bytes.length, 'json');
      return { value: decodeJson(bytes), syntax: 'json' };
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
  keepBodyWithin(bounds, bytes.length, 'yaml');
  try {
    return { value: parseYaml(bytes, bounds), syntax: 'yaml' };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`error decoding YAML: ${error.message}`, error);
  }
}

const OPEN_BRACE = 0x7b;

/** The media types of patches for a kind; strategic merge needs the markers of a schema. */
export function patchMediaTypes({ endpoint }: Target, canApply: boolean): readonly string[] {
  const { jsonPatch, mergePatch, strategicMergePatch, applyPatch } = MEDIA_TYPE;
  // The view of a custom resource is patched like a built-in kind.
  const isCustom = endpoint.type.open || endpoint.stored.custom !== undefined;
  const merges = isCustom ? [mergePatch] : [mergePatch, strategicMergePatch];
  return [jsonPatch, ...merges, ...(canApply ? [applyPatch] : [])];
}
