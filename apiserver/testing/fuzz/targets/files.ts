import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { KubeconfigError, loadKubeconfig } from '../../../../shared/client/kubeconfig';
import { parsePolicy } from '../../../engine/audit/policy-file';
import { LEVELS, STAGES } from '../../../engine/audit/event';
import { mutateBytes } from '../mutators/mutate-bytes';
import { holds, refusable, refusableByError } from '../refusable';
import type { OpenTarget, Target } from '../target';

const YAML_WORDS = [
  '&a ',
  '*a',
  '<<: ',
  '- ',
  '{}',
  '[]',
  'null',
  '~',
  ': ',
  '\n  ',
  '"',
  "'",
  '!!map ',
  '__proto__: {}',
];

/** Files that an operator writes. */
export const FILE_TARGETS: readonly Target[] = [
  {
    name: 'kubeconfig',
    corpus: 'kubeconfig',
    words: [
      ...YAML_WORDS,
      'current-context: ',
      'clusters:',
      'server: ',
      'certificate-authority-data: ',
      'tokenFile: x',
      'exec: {}',
      'https://',
    ],
    mutators: [mutateBytes],
    runs: 1_000,
    open: openKubeconfig,
  },
  {
    name: 'audit-policy',
    corpus: 'audit-policy',
    words: [
      ...YAML_WORDS,
      'level: ',
      'omitStages: ',
      'resources:',
      'group: ',
      'nonResourceURLs: ["*"]',
      'RequestResponse',
      'None',
    ],
    mutators: [mutateBytes],
    runs: 1_000,
    open: () => ({ check: checkPolicy }),
  },
];

function openKubeconfig(): OpenTarget {
  const directory = mkdtempSync(path.join(tmpdir(), 'orch-fuzz-'));
  return {
    check: (input) => {
      // No mutation makes a path of a file that is there.
      const text = input
        .toString('utf8')
        .replaceAll(/certificate-authority:|client-certificate:|client-key:/g, '');
      const config = refusable(() => loadKubeconfig({ text, directory }), KubeconfigError)?.value;
      if (config === undefined) return;
      const { client, context, namespace } = config;
      holds(/^https?:\/\/./.test(client.server), 'the server is an address', client.server);
      holds(
        context !== '' && namespace !== '',
        'context and namespace have names',
        config.context,
        namespace,
      );
      holds(
        (client.cert === undefined) === (client.key === undefined),
        'certificate and key come together',
        text,
      );
    },
    close: async () => {
      rmSync(directory, { recursive: true });
      return Promise.resolve();
    },
  };
}

function checkPolicy(input: Buffer): void {
  const read = refusableByError(() => parsePolicy(input))?.value;
  if (read === undefined) return;
  const { rules, omitStages } = read.policy;
  holds(rules.length > 0, 'a policy has rules', read);
  for (const rule of rules) {
    holds(LEVELS.includes(rule.level), 'a level is one of those there are', rule);
    const texts = [
      rule.users,
      rule.userGroups,
      rule.verbs,
      rule.namespaces,
      rule.nonResourceURLs,
      ...rule.resources.flatMap((each) => [each.resources, each.resourceNames]),
    ];
    holds(
      texts.flat().every((each) => typeof each === 'string'),
      'lists hold texts',
      rule,
    );
  }
  holds(
    [omitStages, ...rules.map((rule) => rule.omitStages)].flat().every((each) => STAGES.includes(each)),
    'stages are those there are',
    read,
  );
}
