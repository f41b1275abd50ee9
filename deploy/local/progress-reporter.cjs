'use strict';

const { existsSync, readFileSync } = require('node:fs');

const SLOWEST_SHOWN = 15;

/**
 * Shows the progress of `npm test`: the number of finished suites, and every failure at once and in full. In a log it prints a line for each
 * suite; on a terminal one line that changes, with the suite that has been running longest. At the end it lists the slowest suites, and those
 * above their budgets (test-tiers.json). ORCH_TEST_GROUPS names the file that lists the suites of each group.
 */
module.exports = function createProgressReporter({ rootDir }) {
  const screen = createScreen(process.stderr);
  const { members, budgets } = readGroups();
  const running = new Set();
  const failed = [];
  const times = [];
  let suites = 0;

  const getName = (file) => file.slice(rootDir.length + 1);
  const getSuites = (file) => members[getName(file)] ?? [getName(file)];
  const formatCount = () => `[${times.length}/${suites}]`;
  const showRunning = () => {
    const [longest] = running;
    if (longest !== undefined) screen.show(`${formatCount()} ${getName(longest)}`);
  };

  return {
    onRunStart({ numTotalTestSuites }) {
      const groups = Object.values(members);
      suites = numTotalTestSuites - groups.length + groups.flat().length;
    },
    onTestFileStart({ path }) {
      running.add(path);
      showRunning();
    },
    onTestFileResult({ path }, result) {
      running.delete(path);
      const seconds = readSeconds(path, result);
      for (const suite of getSuites(path)) {
        times.push({ suite, seconds: seconds[suite] ?? 0 });
        const line = `${formatCount()} ${suite} (${Math.round(seconds[suite] ?? 0)} s)`;
        if (!screen.isTerminal) screen.keep(line);
      }
      const failures = listFailures(result);
      failed.push(...failures.map((failure) => `${getName(path)}: ${failure}`));
      if (failures.length > 0) screen.keep(`${getName(path)} FAILED\n${formatFailures(result)}`);
      showRunning();
    },
    onRunComplete() {
      screen.show('');
      if (times.length > 1) screen.keep(formatTimes(times, budgets));
      if (failed.length > 0) screen.keep(['Failed:', ...failed.map((each) => `  ${each}`)].join('\n'));
    },
  };

  /** Seconds by suite. A group writes those of its suites next to its own file. */
  function readSeconds(file, result) {
    const recorded = `${file}.seconds.json`;
    if (existsSync(recorded)) return JSON.parse(readFileSync(recorded, 'utf8'));
    return { [getName(file)]: (result.perfStats?.runtime ?? 0) / 1_000 };
  }
};

function readGroups() {
  const file = process.env.ORCH_TEST_GROUPS;
  return file === undefined ? { members: {}, budgets: {} } : JSON.parse(readFileSync(file, 'utf8'));
}

function formatTimes(times, budgets) {
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds);
  const over = slowest.filter(({ suite, seconds }) => seconds > (budgets[suite] ?? Infinity));
  return [
    'Slowest suites:',
    ...slowest.slice(0, SLOWEST_SHOWN).map(({ suite, seconds }) => `  ${seconds.toFixed(1)} s  ${suite}`),
    ...over.map(
      ({ suite, seconds }) =>
        `Above its budget: ${suite} took ${seconds.toFixed(1)} s of ${budgets[suite]} s`,
    ),
  ].join('\n');
}

/** Lines that stay, and on a terminal one at the bottom that changes. */
function createScreen(out) {
  const clear = () => {
    if (out.isTTY) out.write('\r\u001B[2K');
  };
  return {
    isTerminal: out.isTTY === true,
    show: (text) => {
      clear();
      if (out.isTTY) out.write(text.slice(0, (out.columns || 80) - 1));
    },
    keep: (text) => {
      clear();
      out.write(`${text}\n`);
    },
  };
}

function listFailures({ testResults, testExecError }) {
  const names = testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  return names.length === 0 && testExecError ? ['the suite could not run'] : names;
}

/** The failures as jest formats them, and the output of the suite on its console. */
function formatFailures({ failureMessage, console: entries }) {
  const output = (entries ?? []).map(({ message }) => `console: ${message}\n`);
  return [failureMessage ?? '', ...output].join('');
}
