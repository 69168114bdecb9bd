import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext } from 'playwright-core'
import {
  go,
  installedChromium,
  launch,
  noChromium,
  openConsole,
  signIn,
} from '../../test/e2e/console/browser.ts'
import { thisCheckout, withOriel } from '../outside/server.ts'
import { userToken } from '../tools/connection.ts'
import { processorTime } from '../tools/process.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { costOf, pairedRow, type Work } from './costs.ts'

const viewers = Number(process.env.CONSOLE_VIEWERS ?? 10)
const rounds = Number(process.env.CONSOLE_ROUNDS ?? 5)
const milliseconds = 4_000

/** About 80 changes a second, of objects that half of the viewers look at. */
const changes: Work = { kind: 'CREATE', milliseconds, rest: 50 }
const reads: Work = { kind: 'GET', milliseconds, rest: 5 }

/** What the viewers look at, in turn. */
const pages = ['#/objects/root?resource=configmaps', '#/views/root', '#/workspaces/root'] as const
const marks = ['tr[data-key]', 'tr[data-view=workspaces]', '[role=treeitem]'] as const

/** Opens the pages in Chromium, each in a browser context of its own, and returns what closes them. */
async function watching(browser: Browser, { address }: Side): Promise<() => Promise<void>> {
  const url = `https://localhost:${address.port}`
  const contexts: BrowserContext[] = []
  for (let i = 0; i < viewers; i++) {
    const { page, context } = await openConsole({ browser, url })
    const at = i % 2 === 0 ? 0 : i % 4 === 1 ? 1 : 2
    await signIn(page, userToken)
    await page.locator('[role=treeitem]').first().waitFor()
    await go(page, pages[at])
    await page.locator(marks[at]).first().waitFor()
    contexts.push(context)
  }
  return async () => {
    for (const context of contexts) await context.close()
  }
}

/** Milliseconds of processor time of the server for each second in which no client changes anything. */
async function idle({ pid }: Side): Promise<number> {
  const [before, begin] = [await processorTime(pid), performance.now()]
  await sleep(milliseconds)
  return (((await processorTime(pid)) - before) * 1_000) / ((performance.now() - begin) / 1_000)
}

const measures = {
  CREATE: (side: Side) => costOf(side, changes),
  GET: (side: Side) => costOf(side, reads),
  idle,
} as const
type Name = keyof typeof measures

const words: Readonly<Record<Name, string>> = {
  CREATE: `CREATE: processor time of one, with ${viewers} viewers`,
  GET: `GET: processor time of one, with ${viewers} viewers`,
  idle: `processor time of each idle second, with ${viewers} viewers`,
}

async function compare(browser: Browser, side: Side, say: (text: string) => void): Promise<readonly Row[]> {
  const names = Object.keys(measures) as Name[]
  const taken = new Map(names.map(name => [name, { changed: [] as number[], base: [] as number[] }]))
  const take = async (of: 'changed' | 'base'): Promise<void> => {
    for (const name of names) taken.get(name)?.[of].push(await measures[name](side))
  }
  const watched = async (): Promise<void> => {
    const close = await watching(browser, side)
    await take('changed')
    await close()
  }
  for (const name of names) await measures[name](side)
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    // The number of objects grows: each half is first in turn.
    const halves = [() => take('base'), watched]
    for (const half of round % 2 === 0 ? halves : halves.reverse()) await half()
  }
  return [...taken].map(([name, paired]) => {
    const id = `console-${name.toLowerCase()}`
    return pairedRow({ id, measure: words[name], unit: 'ms' }, 'without viewers', paired)
  })
}

/** What viewers of the console in Chromium cost the server. */
export const consoleViewers: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const program = installedChromium()
    if (program === undefined) {
      process.stderr.write(`console did not run: ${noChromium}.\n`)
      return []
    }
    const browser = await launch(program)
    try {
      return await withOriel(thisCheckout, directory, side => compare(browser, side, progress))
    } finally {
      await browser.close()
    }
  })
