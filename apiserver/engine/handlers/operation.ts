import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { methodNotSupported, notFound } from '../../../shared/errors/status-error';
import { decodeObject } from '../../../shared/schema/decode';
import type { Document } from '../encoding/document';
import { documentAnswer } from '../encoding/document';
import { bodyMediaType } from '../encoding/request-body';
import { OPERATION_OFFER, negotiate } from '../encoding/negotiation';
import type { Shape } from '../encoding/negotiation';
import type { Answer, Exchange } from '../request/exchange';
import { ask, newWriteAttempt } from '../registry/write-attempt';
import { checkListOptions } from '../registry/list-plan';
import { selfLinkOf } from '../encoding/self-link';
import { shownEndpoint } from '../registry/object-view';
import { runWriteSteps } from '../registry/write-pipeline';
import type { Operation, VirtualResource } from '../registry/operation';
import { listAnswer, objectAnswers } from './answers';
import { readBodyObject } from './body';
import type { VerbContext } from './context';
import { listQueryOf, writeOptions } from './query';
import { placeInNamespace } from './place';
import { withoutMetadata } from '../registry/metadata';
import type { Selectable } from './selection';
import { selectionOf, selectorsOf } from './selection';
import type { Target, Verb } from './target';
import { writeRequestOf } from './target';
import { sourceOf } from './view';

/** The verb for a resource or subresource that is an operation; undefined for a target that is stored. */
export function operationVerb(target: Target, verb: string): Verb | undefined {
  const { endpoint, subresource } = target;
  if (subresource === '') return endpoint.virtual && virtualVerb(endpoint.virtual, verb);
  const special = endpoint.specialSubresources?.[subresource];
  const row = endpoint.subresources.get(subresource);
  if (special?.is !== 'operation' || row === undefined || verb !== 'create') return undefined;
  const shown = { ...target, endpoint: shownEndpoint(endpoint, row) };
  return (context, exchange) =>
    run(context, exchange, shown, { operation: special.run, isAdmitted: true, place: target });
}

function virtualVerb({ create, list, isAdmitted = true }: VirtualResource, verb: string): Verb {
  if (verb === 'create' && create !== undefined) {
    return (context, exchange, target) =>
      run(context, exchange, target, { operation: create, isAdmitted, place: target });
  }
  if (verb === 'list' && list !== undefined) {
    return async (context, exchange, target) => {
      const answer = listAnswer(exchange, target);
      const options = listQueryOf(exchange.query);
      const selectors = await selectorsOf(exchange.query);
      checkListOptions(options);
      const { matches } = selectionOf(selectors, target);
      const all = await list(context, exchange.signal);
      const selected = matches === undefined ? all : all.filter((each) => matches(selectable(each)));
      const entries = selected.map((each) => sourceOf(target.endpoint, each));
      return answer({ metadata: {}, entries });
    };
  }
  if (verb === 'get' && list !== undefined) {
    return async (context, exchange, target) => {
      const answers = objectAnswers(exchange, target);
      const all = await list(context, exchange.signal);
      const found = all.find(({ metadata }) => metadata.name === target.name);
      if (found === undefined) throw notFound(target.endpoint.row, target.name);
      return answers.object(sourceOf(target.endpoint, found));
    };
  }
  return async (_context, _exchange, { endpoint }) => Promise.reject(methodNotSupported(endpoint.row, verb));
}

/** 201 with the result of the operation: an object of its kind, or a Status. */
async function run(
  context: VerbContext,
  exchange: Exchange,
  target: Target,
  {
    operation,
    isAdmitted,
    place,
  }: {
    readonly operation: Operation;
    readonly isAdmitted: boolean;
    /** The place of the request; the target is that of the view. */
    readonly place: Target;
  },
): Promise<Answer> {
  // The response is negotiated as a document; this only refuses requests that accept no object of the kind.
  const { shape } = negotiate(exchange, OPERATION_OFFER);
  bodyMediaType(exchange.headers['content-type']);
  const dryRun = writeOptions(exchange.query, 'CreateOptions');
  const sent = await readBodyObject(exchange, target.endpoint);
  // A review has its own place.
  const object = isAdmitted ? placeInNamespace(sent, target) : sent;
  const request = writeRequestOf(exchange, target, dryRun);
  const draft = newWriteAttempt(ask(context.store, request, { change: () => object }), 'CREATE', undefined);
  await runWriteSteps(isAdmitted ? 'operation' : 'question', draft, exchange.signal);
  const result = await operation(context, { ...request, object: draft.object }, exchange.signal);
  if (result === undefined) return documentAnswer(exchange, 201, SUCCESS, OPERATION_OFFER);
  const shown = object === sent ? result : withoutMetadata(result, 'namespace');
  const document = documentOf(target, exchange.showsLinks === true ? withLink(shown, place) : shown);
  if (shape?.kind !== 'PartialObjectMetadata') return documentAnswer(exchange, 201, document);
  return documentAnswer(exchange, 201, partialOf(document, shape), OPERATION_OFFER);
}

const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

/** PartialObjectMetadata, for clients that request it. */
function partialOf({ metadata }: Pick<ApiObject, 'metadata'>, shape: Shape) {
  return { kind: shape.kind, apiVersion: apiVersionOf(shape), metadata };
}

/** The computed object in canonical form. */
function documentOf({ endpoint }: Target, object: ApiObject): Document & Pick<ApiObject, 'metadata'> {
  const { kind } = endpoint.row;
  const { apiVersion } = endpoint;
  const { object: canonical } = decodeObject(endpoint.type, { ...object, kind, apiVersion });
  return { kind, apiVersion, ...canonical };
}

/** An object without a name or namespace gets those of the path. */
function withLink(object: ApiObject, place: Target): ApiObject {
  const { metadata } = object;
  const { name = '', namespace = '' } = metadata;
  const selfLink = selfLinkOf(place, { name: name || place.name, namespace: namespace || place.namespace });
  return selfLink === undefined ? object : { ...object, metadata: { ...metadata, selfLink } };
}

function selectable({ metadata: { name = '', labels = {} } }: ApiObject): Selectable {
  return { name, labels, fields: { 'metadata.name': name } };
}
