import { Box } from "ink";
import { Lines } from "./components/lines.tsx";
import { useSession } from "./use-session.ts";
import type { View } from "./view/chat-view.ts";

/** The live region. What is finished is not here: the screen has written it above. */
export const App = ({ view }: { readonly view: View }) => {
  const { text, steps, question, prompt, footer } = useSession(view);
  const { paint } = view;
  return (
    <Box flexDirection="column">
      <Lines lines={text} paint={paint} />
      <Lines lines={steps} paint={paint} />
      <Lines lines={question} paint={paint} />
      <Lines lines={prompt} paint={paint} />
      <Lines lines={footer} paint={paint} />
    </Box>
  );
};
