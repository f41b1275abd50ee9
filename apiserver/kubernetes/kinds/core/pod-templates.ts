import { isInForce } from '../../../../shared/api/changes';
import type { PodTemplate } from '../../../../shared/api/types/core-v1';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { containerColumns, NAME } from '../columns/common';
import { labelsText } from '../columns/format';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { validatePodTemplateSpec } from '../pod-template/pod-spec';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { privilegeRule } from '../pod-template/privileged-containers';

const podTemplateRules: Pick<Strategy<PodTemplate>, 'validate'> = {
  validate: ({ template }, { settings }) => [
    ...validatePodTemplateSpec(template, 'template', settings),
    ...privilegeRule(template.spec, { path: 'template.spec', settings }),
  ],
};

const podTemplateStrategy: Strategy<PodTemplate> = {
  compat: { metadataChecks: 'old names', returnsDeletedObject: true },
  ...podTemplateRules,
  tracksGeneration: isInForce('templateGenerations'),
  prepareForCreate: (object, info) => withKeptOwnTemplate(object, info),
  prepareForUpdate: (next, previous, info) => withKeptOwnTemplate(next, info, previous),
};

function withKeptOwnTemplate(object: PodTemplate, info: WriteInfo, previous?: PodTemplate): PodTemplate {
  return { ...object, template: keptTemplate(object.template, info, previous?.template) };
}

const podTemplateTable = tableOf<PodTemplate>([
  NAME,
  ...containerColumns<PodTemplate>(({ template }) => template).map(({ isWide: _always, ...shown }) => shown),
  { name: 'Pod Labels', cell: ({ template }) => labelsText(template.metadata.labels) },
]);

export const podTemplates: Kind<PodTemplate> = { strategy: podTemplateStrategy, table: podTemplateTable };
