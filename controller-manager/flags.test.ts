import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fieldOf } from '../shared/flags/flag-row';
import { parseFlags } from '../shared/flags/parse-flags';
import { FLAGS } from './flags';
import { FOREIGN_FLAGS } from './foreign-flags';

test('every flag is used', () => {
  const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|(?:^|\/)testing\//u.test(file))
    // The flags for metrics are shared by all programs.
    .concat('../shared/metrics/metric-choice.ts')
    .map((file) => readFileSync(path.join(__dirname, file), 'utf8'));
  const unread = FLAGS.map(fieldOf).filter(
    (field) => !sources.some((source) => new RegExp(`\\b${field}\\b`, 'u').test(source)),
  );
  expect(unread).toEqual([]);
});

test('the deprecated name of a flag works with a warning', () => {
  expect(parseFlags(FLAGS, ['--experimental-cluster-signing-duration=48h'], FOREIGN_FLAGS)).toMatchObject({
    outcome: 'values',
    values: { experimentalClusterSigningDurationMs: 172_800_000 },
    warnings: ['--experimental-cluster-signing-duration is deprecated: use --cluster-signing-duration'],
  });
});

test('workload controllers have the numbers of workers of kube-controller-manager', () => {
  expect(parseFlags(FLAGS, [], FOREIGN_FLAGS)).toMatchObject({
    outcome: 'values',
    values: { concurrentDaemonsetSyncs: 2, concurrentStatefulsetSyncs: 5 },
  });
});
