import { jsonValue } from '../../../../shared/cel/eval/json-values';
import type { Value } from '../../../../shared/cel/eval/values';
import { invalid, invalidObject } from '../../../../shared/errors/field-error';
import { StatusError, internalError } from '../../../../shared/errors/status-error';
import { fieldsOf, isZero, text } from '../../../../shared/object/accessors';
import type { ApiObject, ObjectMeta } from '../../../../shared/object/object';
import { decodeObject } from '../../../../shared/schema/decode';
import { encodeObject } from '../../../../shared/schema/encode';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import { fromHub, toHub } from '../../../engine/registry/hub';
import type { Endpoint } from '../../../engine/registry/resource';
import { shownEndpoint } from '../../../engine/registry/object-view';
import { kindAt } from './reviewed-request';

/** The source of a write's objects. */
export interface ReviewedAs {
  readonly endpoint: Endpoint;
  readonly subresource: string;
}

interface Version {
  readonly shown: ApiObject;
  json: Buffer | undefined;
  value: Value | undefined;
}

/**
 * An object under review: each version is converted and encoded once, however many webhooks or policies need it. Objects come in the stored version,
 * or in the request's if nothing is stored.
 */
export class ReviewedObject {
  readonly object: ApiObject;
  readonly #from: ReviewedAs;
  readonly #versions = new Map<Endpoint, Version>();

  constructor(object: ApiObject, from: ReviewedAs) {
    this.object = object;
    this.#from = from;
  }

  json(wanted: Endpoint): Buffer {
    const version = this.#in(wanted);
    return (version.json ??= encodeObject(version.shown));
  }

  shown(wanted: Endpoint): ApiObject {
    return this.#in(wanted).shown;
  }

  /** Returns the object as expressions see it. */
  value(wanted: Endpoint): Value {
    const version = this.#in(wanted);
    return (version.value ??= jsonValue(version.shown));
  }

  /**
   * Decodes the object after a webhook's patch in this version, with defaults, like a client's. Throws InternalError if it is no object
   * of the kind, and Invalid for a custom resource of another kind.
   */
  changedTo(value: unknown, wanted: Endpoint): ApiObject {
    try {
      const named = namedBy(value, this.#as(wanted));
      return this.#back(decoded(value, named), this.#isOtherKind(wanted) ? wanted : named);
    } catch (error) {
      throw error instanceof ConversionNeeded || error instanceof StatusError ? error : internalError(error);
    }
  }

  #in(wanted: Endpoint): Version {
    const known = this.#versions.get(wanted);
    if (known !== undefined) return known;
    const version = { shown: this.#convert(wanted), json: undefined, value: undefined };
    this.#versions.set(wanted, version);
    return version;
  }

  #convert(wanted: Endpoint): ApiObject {
    const { endpoint } = this.#from;
    const { object } = this;
    const { apiVersion } = this.#as(wanted);
    if (object.apiVersion === apiVersion) return object;
    if (this.#isOtherKind(wanted)) {
      throw internalError(new Error(`unable to convert to ${apiVersion}: unknown kind`));
    }
    return fromHub(
      wanted,
      object.apiVersion === endpoint.stored.apiVersion ? object : toHub(endpoint, object),
    );
  }

  #back(changed: ApiObject, wanted: Endpoint): ApiObject {
    const { endpoint } = this.#from;
    const { apiVersion } = this.object;
    if (this.#isOtherKind(wanted)) return changed;
    const { stored } = endpoint;
    if (apiVersion === stored.apiVersion && stored.custom === undefined) return toHub(wanted, changed);
    return apiVersion === changed.apiVersion ? changed : fromHub(endpoint, toHub(wanted, changed));
  }

  /** A scale or binding: another kind with the same version everywhere. */
  #isOtherKind(wanted: Endpoint): boolean {
    const { group, kind } = kindAt(wanted, this.#from.subresource);
    return group !== wanted.row.group || kind !== wanted.row.kind;
  }

  /** Returns the endpoint with the kind of the subresource. */
  #as(wanted: Endpoint): Endpoint {
    const row = wanted.subresources.get(this.#from.subresource);
    return row !== undefined && this.#isOtherKind(wanted) ? shownEndpoint(wanted, row) : wanted;
  }
}

/**
 * Returns the version that a patched object names: a patch may change it, and may drop the type of a built-in kind. Throws Invalid for a
 * custom resource of another kind, as upstream's validation does, and an Error for any other type.
 */
function namedBy(value: unknown, wanted: Endpoint): Endpoint {
  const { kind: givenKind, apiVersion: givenVersion, metadata } = fieldsOf<ApiObject>(value);
  const { row, custom, versions } = wanted;
  const isBuiltIn = custom === undefined;
  const kind = isBuiltIn && isZero(givenKind) ? row.kind : givenKind;
  const apiVersion = isBuiltIn && isZero(givenVersion) ? wanted.apiVersion : givenVersion;
  const known = [wanted, ...versions.values()].find((each) => each.apiVersion === apiVersion);
  if (known !== undefined && known.row.kind === kind) return known;
  if (!isBuiltIn && known !== undefined && text(kind) !== '') {
    const fault = invalid('kind', kind, `must be ${row.kind}`);
    throw invalidObject(row, text(fieldsOf<ObjectMeta>(metadata).name), [fault]);
  }
  const found = `${String(apiVersion)}, Kind=${String(kind)}`;
  throw new Error(`the patch of a webhook made ${found} of ${wanted.apiVersion}, Kind=${row.kind}`);
}

function decoded(value: unknown, { row: { kind }, apiVersion, type, applyDefaults }: Endpoint): ApiObject {
  const { object } = decodeObject(type, value, { empty: 'keep' });
  const made = { ...object, kind, apiVersion };
  return applyDefaults?.(made) ?? made;
}
