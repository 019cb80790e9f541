/**
 * What recognisers write down of a noise: a few phrases of their training, whatever the language. They count where a voice was heard that
 * can have said them.
 */
export const inventedPhrases: readonly string[] = [
  ...[
    'you',
    'thank you for watching',
    'thanks for watching',
    'thank you so much for watching',
    'please subscribe',
  ],
  ...[
    'vielen dank fürs zuschauen',
    'danke fürs zuschauen',
    'untertitel der amara.org-community',
    'untertitelung des zdf',
  ],
  ...[
    "merci d'avoir regardé cette vidéo",
    "sous-titres réalisés par la communauté d'amara.org",
    'sous-titrage st 501',
  ],
  ...['gracias por ver el video', 'gracias por ver', 'subtítulos realizados por la comunidad de amara.org'],
  ...[
    'izlediğiniz için teşekkür ederim',
    'altyazı m.k',
    'grazie per aver guardato il video',
    'obrigado por assistir',
  ],
  ...[
    'bedankt voor het kijken',
    'ondertiteld door de amara.org gemeenschap',
    'dziękuję za oglądanie',
    'napisy stworzone przez społeczność amara.org',
  ],
];
