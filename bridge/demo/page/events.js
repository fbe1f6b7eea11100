// Server-sent events of a fetch body, in batches: one array of `data` values for each network read.
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    yield blocks.filter((block) => block.startsWith("data: ")).map((block) => block.slice(6));
  }
}
