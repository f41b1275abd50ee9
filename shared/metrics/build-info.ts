import type { Build } from '../build';
import { METRICS_RELEASE } from './metric-choice';
import type { MetricSet } from './metric-set';

const LABELS = [
  'major',
  'minor',
  'git_version',
  'git_commit',
  'git_tree_state',
  'build_date',
  'go_version',
  'compiler',
  'platform',
] as const;

/** Shows which build the program is, under the project's name and under the one that dashboards for Kubernetes look for. */
export function addBuildInfo(metrics: MetricSet, { version, commit, treeState, date }: Build): void {
  const info = {
    major: String(METRICS_RELEASE.major),
    minor: String(METRICS_RELEASE.minor),
    git_version: `v${String(METRICS_RELEASE.major)}.${String(METRICS_RELEASE.minor)}.0+orch-${version}`,
    git_commit: commit,
    git_tree_state: treeState,
    build_date: date,
    // There is no Go here; dashboards show this text.
    go_version: `node ${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch}`,
  };
  metrics.gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels are the release whose interface is served, and the build.',
    labels: LABELS,
    read: () => [[info, 1]],
  });
  const own = { version, commit, build_date: date, node_version: process.version };
  metrics.gauge({
    name: 'orch_build_info',
    help: 'Always 1; the labels are the build.',
    labels: ['version', 'commit', 'build_date', 'node_version'],
    read: () => [[own, 1]],
  });
}
