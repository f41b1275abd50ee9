'use strict';

/**
 * What `npm test` shows while jest runs: how many suites are done of all, and every failure at once and in full. In a log that is a line for
 * each suite; on a terminal it is one line that changes, with the suite that has been running longest.
 */
module.exports = function createProgressReporter({ rootDir }) {
  const screen = createScreen(process.stderr);
  const running = new Set();
  const failed = [];
  let suites = 0;
  let done = 0;

  const nameOf = (file) => file.slice(rootDir.length + 1);
  const count = () => `[${done}/${suites}]`;
  const showRunning = () => {
    const [longest] = running;
    if (longest !== undefined) screen.show(`${count()} ${nameOf(longest)}`);
  };

  return {
    onRunStart({ numTotalTestSuites }) {
      suites = numTotalTestSuites;
    },
    onTestFileStart({ path }) {
      running.add(path);
      showRunning();
    },
    onTestFileResult({ path }, result) {
      running.delete(path);
      done += 1;
      const seconds = Math.round((result.perfStats?.runtime ?? 0) / 1_000);
      const line = `${count()} ${nameOf(path)} (${seconds} s)`;
      const failures = failuresOf(result);
      failed.push(...failures.map((failure) => `${nameOf(path)}: ${failure}`));
      if (failures.length > 0) screen.keep(`${line} FAILED\n${textOf(result)}`);
      else if (!screen.isTerminal) screen.keep(line);
      showRunning();
    },
    onRunComplete() {
      screen.show('');
      if (failed.length > 0) screen.keep(['Failed:', ...failed.map((each) => `  ${each}`)].join('\n'));
    },
  };
};

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

function failuresOf({ testResults, testExecError }) {
  const names = testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
  return names.length === 0 && testExecError ? ['it could not be run'] : names;
}

/** The failures as jest tells them, and what the suite wrote to its console. */
function textOf({ failureMessage, console: lines }) {
  const said = (lines ?? []).map(({ message }) => `console: ${message}\n`);
  return [failureMessage ?? '', ...said].join('');
}
