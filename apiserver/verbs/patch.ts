import { MEDIA_TYPE } from '../../shared/names';
import type { JsonObject } from '../../shared/meta/clone';
import type { ApiObject } from '../../shared/meta/object';
import { StatusError, badRequest, notFound } from '../../shared/errors/status-error';
import { PatchError } from '../../shared/patch/patch-error';
import { applyJsonPatch } from '../../shared/patch/json-patch';
import { applyMergePatch } from '../../shared/patch/merge-patch';
import { decodeJson } from '../../shared/schema/decode';
import { negotiateAnswer, negotiateBody } from '../encoding/negotiation';
import { withResourceVersion } from '../encoding/written';
import type { Answer, Exchange } from '../exchange/exchange';
import type { Change } from '../registry/update';
import { updateObject } from '../registry/update';
import { jsonAnswer } from './answers';
import { decodeValue } from './body';
import type { VerbContext } from './context';
import { checkIdentity } from './place';
import { checkFieldManager, dryRunParameter } from './query';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** Applies a patch document to an object and returns the result; neither is changed. Throws PatchError. */
type Patcher = (current: Readonly<JsonObject>, patch: unknown) => unknown;

const PATCHERS: Readonly<Record<string, Patcher>> = {
  [MEDIA_TYPE.jsonPatch]: applyJsonPatch,
  [MEDIA_TYPE.mergePatch]: applyMergePatch,
};

/** PATCH on an object or a subresource: 200 with the object as stored. The patch is applied again whenever another writer was faster. */
export async function patch(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  negotiateAnswer(exchange.headers.accept);
  const mediaType = negotiateBody(exchange.headers['content-type'] ?? '', Object.keys(PATCHERS));
  const dryRun = dryRunParameter(exchange.query.getAll('dryRun'), 'PatchOptions');
  checkFieldManager(exchange.query, 'PatchOptions');
  const document = parse(await exchange.readBody());
  const change = changeBy(target, (current) => PATCHERS[mediaType]?.(current, document));
  const request = writeRequestOf(exchange, target, dryRun);
  const write = { change, options: { mayCreate: false } };
  const written = await updateObject(context.store, request, write, exchange.signal);
  return jsonAnswer(200, withResourceVersion(written.plain, written.revision));
}

function parse(bytes: Buffer): unknown {
  try {
    return decodeJson(bytes);
  } catch (error) {
    throw badRequest(
      `the patch is no JSON: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function changeBy(target: Target, apply: (current: Readonly<JsonObject>) => unknown): Change {
  return (current) => {
    if (current === undefined) throw notFound(target.endpoint.row, target.name);
    const { endpoint } = target;
    const versioned: ApiObject = { ...current, kind: endpoint.row.kind, apiVersion: endpoint.apiVersion };
    return checkIdentity(decodeValue(applied(versioned, apply, target), endpoint), target);
  };
}

/** A malformed patch is a BadRequest, one that does not apply is Invalid, too many operations are refused by their number. */
function applied(
  current: ApiObject,
  apply: (current: Readonly<JsonObject>) => unknown,
  target: Target,
): unknown {
  try {
    return apply(current);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.kind === 'malformed') throw badRequest(error.message, error);
    if (error.kind === 'too-many') {
      throw new StatusError('RequestEntityTooLarge', error.message, { cause: error });
    }
    const { row } = target.endpoint;
    throw new StatusError(
      'Invalid',
      `the server rejected our request due to an error in our request: ${error.message}`,
      {
        details: { name: target.name, kind: row.resource, ...(row.group === '' ? {} : { group: row.group }) },
        cause: error,
      },
    );
  }
}
