import { isJsonObject } from '../../../shared/object/clone';
import { stringifyExact } from '../../../shared/object/exact-text';
import { badRequest } from '../../../shared/errors/status-error';
import { apiVersionOf } from '../../../shared/object/object';
import { DecodeError, decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { messageType } from '../../../shared/schema/types';
import { bodyMediaType } from '../encoding/request-body';
import type { Exchange } from '../request/exchange';
import type { DeleteOptions } from '../registry/deletion';
import { graceOf } from '../registry/deletion';
import { dryRunErrors, propagationErrors, refuseDeleteOptions } from '../registry/delete-options-rules';
import { boundedBody } from './body';
import { intParameter, optionalBoolParameter } from './query';
import type { Target } from './target';

/** The members of meta/v1 DeleteOptions that are read. */
interface WireOptions {
  readonly gracePeriodSeconds?: number | bigint;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

/**
 * Reads the options of a deletion: from the body if there is one, which then counts alone, else from the
 * query. Warns if the kind wants a propagation policy to be chosen. Throws BadRequest for a malformed body and Invalid for invalid values.
 */
export async function readDeleteOptions(
  exchange: Exchange,
  { endpoint: { stored } }: Pick<Target, 'endpoint'>,
): Promise<DeleteOptions> {
  const body = await exchange.readBody();
  const wire = body.length === 0 ? ofQuery(exchange.query) : ofBody(exchange, body);
  if (body.length > 0) {
    exchange.audit?.requestObject(undefined, () => encodeObject(documentOf(exchange, wire)));
  }
  const { dryRun = [], gracePeriodSeconds: seconds, ...rest } = wire;
  refuseDeleteOptions([...propagationErrors(wire), ...dryRunErrors(dryRun)]);
  const { defaultPropagationWarning: warning } = stored.strategy.compat ?? {};
  const isChosen = wire.propagationPolicy !== undefined || wire.orphanDependents !== undefined;
  if (warning !== undefined && !isChosen) exchange.warnings.push(warning);
  const grace = seconds === undefined ? {} : { gracePeriodSeconds: graceOf(seconds) };
  return { ...rest, ...grace, dryRun: dryRun.length > 0 };
}

function ofQuery(query: URLSearchParams): WireOptions {
  const grace = intParameter(query, 'gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = optionalBoolParameter(query, 'orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...preconditionsOf(query),
  };
}

/** A query may also have the names of preconditions. */
function preconditionsOf(query: URLSearchParams): Pick<WireOptions, 'preconditions'> {
  const uid = query.get('uid') ?? '';
  const resourceVersion = query.get('resourceVersion') ?? '';
  if (uid === '' && resourceVersion === '') return {};
  return {
    preconditions: { ...(uid === '' ? {} : { uid }), ...(resourceVersion === '' ? {} : { resourceVersion }) },
  };
}

function ofBody(exchange: Exchange, body: Buffer): WireOptions {
  const type = messageType('meta/v1.DeleteOptions');
  const mediaType = bodyMediaType(exchange.headers['content-type']);
  const { value } = boundedBody(exchange, body, mediaType).parse({ kind: 'DeleteOptions', type });
  checkKind(value);
  try {
    return decodeObject(type, value).object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`DeleteOptions cannot be read: ${error.message}`, error);
  }
}

/** Options are part of every group version; audit events have them in the version of the path. */
function documentOf({ info }: Exchange, wire: WireOptions): object {
  const apiVersion = apiVersionOf({ group: info.apiGroup, version: info.apiVersion });
  return { kind: 'DeleteOptions', apiVersion, ...wire };
}

function checkKind(value: unknown): void {
  const { kind = '', apiVersion } = isJsonObject(value) ? (value as Partial<TypeMeta>) : {};
  if (kind !== '' && kind !== 'DeleteOptions') {
    throw badRequest(`the body of a deletion must be of kind DeleteOptions, not ${stringifyExact(kind)}`);
  }
  // The version only needs to be valid.
  if (typeof apiVersion === 'string' && apiVersion.split('/', 3).length > 2)
    throw badRequest(`unexpected GroupVersion string: ${apiVersion}`);
}

interface TypeMeta {
  readonly kind: unknown;
  readonly apiVersion: unknown;
}
