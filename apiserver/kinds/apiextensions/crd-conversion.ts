import type { CustomResourceDefinitionSpec } from '../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, notSupported, required } from '../../../shared/errors/field-error';
import { dns1035LabelProblems } from '../../../shared/meta/dns-names';
import { goStrings } from '../../../shared/structural/go-text';
import type { Demands } from './crd-demands';
import { REVIEW_VERSIONS } from './crd-demands';
import { forEachItem, repeatsIn } from '../rules/primitives';
import { webhookClient } from '../rules/webhook-clients';

const STRATEGIES = ['None', 'Webhook'];
const CLIENT = 'spec.conversion.webhookClientConfig';
const VERSIONS = 'spec.conversion.conversionReviewVersions';

/** How objects of one version become those of another; absent is `None`. */
export function validateConversion(spec: CustomResourceDefinitionSpec, demands: Demands): FieldError[] {
  const { conversion } = spec;
  if (conversion === undefined) return [];
  const { strategy, webhook } = conversion;
  const client = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy === 'Webhook') {
    return [
      ...(spec.preserveUnknownFields === true
        ? [
            invalid(
              'spec.conversion.strategy',
              strategy,
              'must be None if spec.preserveUnknownFields is true',
            ),
          ]
        : []),
      ...(client === undefined
        ? [required(CLIENT, 'required when strategy is set to Webhook')]
        : webhookClient(client, CLIENT)),
      ...validateReviewVersions(versions, demands),
    ];
  }
  const why = 'should not be set when strategy is not set to Webhook';
  return [
    ...(strategy === '' ? [required('spec.conversion.strategy')] : []),
    ...(strategy === '' || STRATEGIES.includes(strategy)
      ? []
      : [notSupported('spec.conversion.strategy', strategy, STRATEGIES)]),
    ...(client === undefined ? [] : [forbiddenField(CLIENT, why)]),
    ...(versions.length === 0 ? [] : [forbiddenField(VERSIONS, why)]),
  ];
}

function validateReviewVersions(versions: readonly string[], { reviewVersion }: Demands): FieldError[] {
  if (versions.length === 0) return [required(VERSIONS)];
  const isRepeated = repeatsIn(versions);
  const wrong = forEachItem(versions, VERSIONS, (version, at, index) => [
    ...(isRepeated(index) ? [invalid(at, version, 'duplicate version')] : []),
    ...dns1035LabelProblems(version).map((problem) => invalid(at, version, problem)),
  ]);
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
