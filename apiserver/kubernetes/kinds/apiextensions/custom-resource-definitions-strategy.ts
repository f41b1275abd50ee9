import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  WebhookConversion,
} from '../../../../shared/api/types/apiextensions-v1';
import { warmPatterns } from '../../../../shared/structural/warm-patterns';
import { FINALIZER } from '../../../../shared/names';
import { withCondition } from '../../../engine/registry/conditions';
import { timestamp } from '../../../engine/registry/metadata';
import type { Strategy } from '../../../engine/registry/strategy';
import { statusSubresource, withStatus } from '../../../engine/registry/strategy';
import { INSTRUCTIONS_MAX } from './crd-structure';
import { customResourceDefinitionRules, validateAcceptedNames } from './custom-resource-definitions-rules';

export const customResourceDefinitions: Strategy<CustomResourceDefinition> = {
  metadataChecks: 'no domains',
  refusesPreconditionsByResource: true,
  ...customResourceDefinitionRules,
  prepareRules: (next, previous) =>
    warmPatterns(previous === undefined ? [next.spec] : [next.spec, previous.spec], 2 * INSTRUCTIONS_MAX),
  statusLeavesMetadata: true,
  tracksGeneration: true,
  requiresResourceVersion: true,
  beginDeletion: awaitCleanup,
  dropsUnstorable: withoutEmptyWebhook,
  subresources: {
    status: { ...statusSubresource, validateUpdate: (next) => validateAcceptedNames(next) },
    // Not for clients: as which the server itself lets a definition go, whatever would be asked of a new one.
    cleanup: {
      prepareForUpdate: (next, previous) => withStatus({ ...previous, metadata: next.metadata }, next.status),
    },
  },
};

/** A webhook that says nothing of how it is asked is none: upstream's internal version has its parts alone. */
function withoutEmptyWebhook(object: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = object;
  const { webhook, ...conversion } = spec.conversion ?? NO_CONVERSION;
  if (webhook === undefined || isAsked(webhook)) return object;
  return { ...object, spec: { ...spec, conversion } };
}

const NO_CONVERSION: CustomResourceConversion = { strategy: 'None' };

function isAsked({ clientConfig, conversionReviewVersions }: WebhookConversion): boolean {
  return (clientConfig ?? null) !== null || (conversionReviewVersions ?? []).length > 0;
}

/** A definition goes when no object of its resource is left, which is seen to by the server. Source: the storage of v1.21. */
function awaitCleanup(object: CustomResourceDefinition, nowMs: number): CustomResourceDefinition {
  const { metadata } = object;
  const { finalizers = [] } = metadata;
  const marked: CustomResourceDefinition = {
    ...object,
    metadata: {
      ...metadata,
      deletionTimestamp: timestamp(nowMs),
      finalizers: finalizers.includes(FINALIZER.customResourceCleanup)
        ? finalizers
        : [...finalizers, FINALIZER.customResourceCleanup],
    },
  };
  return withCondition(
    marked,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    nowMs,
  );
}
