import { invalidObject } from '../../../shared/errors/field-error';
import { subdomainName } from '../../../shared/meta/name-rules';
import type { ApiObject } from '../../../shared/object/object';
import { validateObjectMeta } from '../../../shared/meta/validate-metadata';
import type { Draft } from '../draft';
import { withTrackedFieldsOnly } from '../field-tracking';
import { metadataForCreate, timestamp } from '../metadata';
import { kindInErrors } from '../resource';
import { withStatus } from '../strategy';
import { writeInfo } from '../write-context';
import { problemsAsSent } from './as-sent';

/** What only the server sets of a new object. */
export function prepareNew(draft: Draft): void {
  const { context, request, uid } = draft.asked;
  const { endpoint, namespace, name } = request;
  const { strategy, namespaced } = endpoint.stored;
  const object = withTrackedFieldsOnly(context, draft.object);
  const dropsStatus =
    strategy.keepsStatusOnCreate !== true && endpoint.row.subresources.some((each) => each.name === 'status');
  const prepared: ApiObject = {
    ...(dropsStatus ? withStatus(object, undefined) : object),
    metadata: metadataForCreate(object.metadata, {
      name,
      namespace: namespaced ? namespace : undefined,
      uid,
      creationTimestamp: timestamp(context.clock.now()),
      generation: strategy.tracksGeneration === true ? 1 : undefined,
    }),
  };
  draft.object = strategy.prepareForCreate?.(prepared, writeInfo(context, request)) ?? prepared;
}

/** Throws Invalid with every fault of a new object. */
export function validateNew(draft: Draft): void {
  const { asked, object } = draft;
  const { stored } = asked.request.endpoint;
  const info = writeInfo(asked.context, asked.request);
  const errors = [
    ...validateObjectMeta(object.metadata, {
      namespaced: stored.namespaced,
      validateName: stored.strategy.nameRule ?? subdomainName,
      path: 'metadata',
      freeFinalizers: stored.custom !== undefined,
    }),
    ...problemsAsSent(draft, info),
    ...(stored.strategy.validate?.(object, info) ?? []),
    ...(stored.strategy.validateNew?.(object, info) ?? []),
  ];
  if (errors.length > 0) throw invalidObject(kindInErrors(stored), asked.request.name, errors);
}
