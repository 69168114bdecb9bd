/** A fenced block of a Markdown document. */
export interface Block {
  readonly language: string
  readonly text: string
}

/** The fenced blocks of a document, in order. */
export const blocksOf = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^```([a-z]*)\n([\s\S]*?)^```$/gm)].map(match => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
  }))
