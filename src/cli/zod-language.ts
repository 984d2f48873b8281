import { config } from "zod";

/** Lets zod say what is wrong with a value in Chinese, as everything else is said. English is its own default. */
export const speakChinese = async (): Promise<void> => {
  const { default: chinese } = await import("zod/v4/locales/zh-CN.js");
  config(chinese());
};
