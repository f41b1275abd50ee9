import type {
  CustomResourceDefinitionSpec,
  WebhookConversion,
} from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1035LabelProblems } from '../../../../shared/meta/dns-names';
import { goStrings } from '../../../../shared/structural/go-text';
import type { Demands } from './crd-demands';
import { REVIEW_VERSIONS } from './crd-demands';
import { forEachItem, invalidForEach, repeatsIn, requiredChoice } from '../rules/primitives';
import { webhookClient } from '../rules/webhook-clients';

const STRATEGIES = ['None', 'Webhook'];
const CLIENT = 'spec.conversion.webhookClientConfig';
const VERSIONS = 'spec.conversion.conversionReviewVersions';

/** How objects of one version become those of another; absent is `None`. */
export function validateConversion(spec: CustomResourceDefinitionSpec, demands: Demands): FieldError[] {
  const { conversion } = spec;
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const path = 'spec.conversion.strategy';
  return [
    ...(strategy !== 'None' && spec.preserveUnknownFields === true
      ? [invalid(path, strategy, 'must be None if spec.preserveUnknownFields is true')]
      : []),
    ...requiredChoice(strategy, path, STRATEGIES),
    ...(strategy === 'Webhook' ? validateWebhook(webhook, demands) : noWebhook(webhook)),
  ];
}

function validateWebhook(webhook: WebhookConversion | undefined, demands: Demands): FieldError[] {
  const client = webhook?.clientConfig;
  return [
    ...(client === undefined
      ? [required(CLIENT, 'required when strategy is set to Webhook')]
      : webhookClient(client, CLIENT)),
    ...validateReviewVersions(webhook?.conversionReviewVersions ?? [], demands),
  ];
}

function noWebhook(webhook: WebhookConversion | undefined): FieldError[] {
  const why = 'should not be set when strategy is not set to Webhook';
  const versions = webhook?.conversionReviewVersions ?? [];
  return [
    ...(webhook?.clientConfig === undefined ? [] : [forbiddenField(CLIENT, why)]),
    ...(versions.length === 0 ? [] : [forbiddenField(VERSIONS, why)]),
  ];
}

function validateReviewVersions(versions: readonly string[], { reviewVersion }: Demands): FieldError[] {
  if (versions.length === 0) return [required(VERSIONS)];
  const isRepeated = repeatsIn(versions);
  const wrong = forEachItem(versions, VERSIONS, (version, at, index) =>
    isRepeated(index)
      ? [invalid(at, version, 'duplicate version')]
      : invalidForEach(dns1035LabelProblems(version), version, at),
  );
  return !reviewVersion || versions.some((version) => REVIEW_VERSIONS.includes(version))
    ? wrong
    : [
        ...wrong,
        {
          reason: 'FieldValueInvalid',
          field: VERSIONS,
          message: `Invalid value: ${goStrings(versions)}: must include at least one of ${REVIEW_VERSIONS.join(', ')}`,
        },
      ];
}
