import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Block, blocksOf } from '../support/markdown.ts'
import { readTexts, root, type TextFile } from '../support/source.ts'

/** A fenced block and its page. */
export interface PageBlock extends Block {
  readonly page: string
  /** The number of the first line of its text, from 1. */
  readonly line: number
}

/** All pages of the repository. `docs/reference.md` is generated from sources and has no commands. */
export const pages = (): readonly TextFile[] =>
  readTexts(['.md']).filter(({ path }) => path.endsWith('.md') && path !== 'docs/reference.md')

export function blocksOfPage({ path, text }: TextFile): readonly PageBlock[] {
  let from = 0
  return blocksOf(text).map(block => {
    const at = text.indexOf(`\`\`\`${block.language}\n${block.text}`, from)
    from = at + 1
    return { ...block, page: path, line: text.slice(0, at).split('\n').length + 1 }
  })
}

export const allBlocks = (): readonly PageBlock[] => pages().flatMap(blocksOfPage)

/** The texts in backticks of a page, outside of fenced blocks. */
export const spansOf = ({ text }: TextFile): readonly string[] =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

/** `virtual/<view>/README.md`, where a view has one. */
export const viewPages = (): readonly string[] =>
  readdirSync(join(root, 'virtual'))
    .map(name => `virtual/${name}/README.md`)
    .filter(file => existsSync(join(root, file)))

/** The pages that continue the README: `test/readme.test.ts` runs their blocks `bash` in this order. */
export const walkPages = (): readonly string[] => [
  'README.md',
  ...viewPages(),
  ...[
    'authentication',
    'authorization',
    'doctor',
    'operations',
    'workspaces',
    'standalone',
    'views',
    'writing-a-view',
  ].map(name => `docs/${name}.md`),
]

/** `test/e2e/package/tutorial.test.ts` runs it with the packed package. */
export const tutorialPage = 'docs/tutorial.md'
