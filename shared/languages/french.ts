import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'réserve|envoie|paie|paye|commande|mets|ajoute|supprime|appelle|active|bloque|confirme|prends|ouvre|ferme|continue|utilise';

export const french: Language = {
  code: 'fr',
  name: 'French',
  lines: {
    fillers: [
      "Un instant, s'il vous plaît.",
      'Je vérifie.',
      'Encore une petite seconde.',
      'Je suis à vous tout de suite.',
    ],
    apology: "Excusez-moi, un problème est survenu. Pouvez-vous répéter, s'il vous plaît ?",
    misheard: "Excusez-moi, je n'ai pas compris. Pouvez-vous répéter, s'il vous plaît ?",
    farewell: 'Au revoir.',
    hold: "Le problème n'est pas résolu. Restez en ligne, s'il vous plaît.",
    back: "Merci d'avoir patienté.",
    unheardNote: "[La personne qui appelle n'a pas entendu votre réponse. Donnez-la maintenant.]",
    announcement: '',
    idleQuestion: 'Êtes-vous toujours là ?',
    confirmQuestion: 'Souhaitez-vous que je le fasse ?',
    keysNote: '[La personne qui appelle a appuyé sur les touches : {digits}]',
    returnLine: "Désolé, personne n'a pu prendre votre appel. Que puis-je faire d'autre pour vous ?",
    operatorLost:
      'Excusez-moi, la liaison avec mon collègue est coupée. Je suis de nouveau avec vous. Comment puis-je vous aider ?',
  },
  backchannels: listed(
    "oui|ouais|ouaip|mouais|ok|okay|d'accord|d'acc|je vois|je comprends|compris|bien|très bien|bien sûr|exact|exactement",
    "tout à fait|voilà|ça marche|entendu|parfait|super|ah bon|bon|certes|en effet|absolument|c'est ça|c'est vrai",
    'pas de problème|pas de souci|pas mal',
  ),
  nods: {
    core: spaced(
      'wow waouh vraiment intéressant bien bon bonne super génial parfait magnifique formidable fantastique excellent impeccable nickel top',
      'merveilleux merveilleuse superbe extraordinaire incroyable cool chouette sympa gentil gentille utile pratique vrai juste exact exactement',
      'correct clair logique normal évident évidemment naturellement certainement effectivement absolument totalement carrément parfaitement entendu',
      "noté compris comprends vois sais d'accord accord ok okay oui ouais voilà ravi content heureux heureuse plaisir soulagement soulagé rassuré",
      'rassurant marche convient raison sens sérieux sérieuse sérieusement dingue fou drôle marrant étonnant surprenant bizarre mince zut dieu vache',
      'heureusement ouf bravo merveille certes volontiers sûr sûre compréhensible adorable épatant imagine fascinant remarquable charmant enchanté',
      'ouah dommage chapeau agréable aimable généreux généreuse attentionné triste embêtant pénible regrettable malin futé passionnant rigolo mignon',
      'mignonne complètement entièrement franchement sûrement probablement pensais croyais supposais excitant impressionné surpris surprise étonné',
      'touché ému émue flatté reconnaissant satisfait convaincu oublié remarqué espéré attendu deviné cru pensé bonheur joie chance nouvelles',
      'délicieux délicieuse élégant ravissant émouvant encourageant prometteur rafraîchissant absurde insensé délirant hallucinant habile astucieux',
      'astucieuse solide pertinent hourra youpi aïe beurk bof hop hé pardi parbleu fichtre diantre pff pfiou ouille oups énorme dément stupéfiant',
      'époustouflant hilarant ahurissant renversant désolant inouï inédit géant grandiose splendide sublime exquis divin phénoménal sensationnel',
      'stylé canon flippant félicitations',
    ),
    inflection: /(?:s|e|es)$/u,
    light: spaced(
      "merci ah oh eh ben bah alors donc c'est ça ce cela est le la un une de à me je j'ai vous avez as tout très si aussi l'entendre l'apprendre",
      "savoir tiens dis a l'air semble paraît là tant ma mon on y va fait mais sans doute en effet fort idée nouvelle chose m' j'entends entends",
      'maintenant déjà suis sommes était étais vraie',
      "plus mieux j'avais avait avais",
      "tu il elle nous ils l'ai que qu'on pour par avec dans du des au aux moins trop assez tellement étaient serait aurait été eu dit m'a",
      "m'avait lui leur son sa ses notre votre quelque pile poil l'avais l'avait",
      'truc attention geste plan choix offre histoire coïncidence service détail solution',
    ),
    exclaiming: spaced('comme quel quelle'),
    inverting: [],
    wondering: listed(
      "ah vraiment|vraiment|ah bon|ah oui|c'est vrai|ah c'est vrai|sérieux|ah sérieux|sérieusement|sans blague|ah ouais|ah bon d'accord",
      "c'est vrai ça|tiens",
    ),
    phrases: listed(
      "oh là là|oh la la|pas possible|pas mal|pas mal du tout|c'est pas mal|c'est pas faux|c'est pas bête|je ne savais pas|je savais pas",
      "je ne le savais pas|je m'en doutais|je m'en doutais un peu|je pensais bien|c'est bien ce que je pensais|je vois ce que vous voulez dire",
      "je vois ce que c'est|dieu merci|quel soulagement|quelle chance|quelle bonne idée|aucun souci|aucun problème|pas de souci|pas de problème",
      "tant mieux|ça se comprend|ça marche|bien entendu|dis donc|dites donc|ben dis donc|vous avez raison|tu m'étonnes|je veux bien vous croire",
      "je vous crois|à merveille|j'imagine|je m'en doute|ça explique tout|ça explique|je vous suis|j'écoute|je vous écoute|ah ça oui|j'aime bien",
      "j'adore|quelle surprise|quelle bonne nouvelle|ça tombe bien|à la bonne heure|c'est déjà ça|tout s'explique|je note|n'est-ce pas",
      "que c'est beau|que c'est bien|rien d'étonnant|on est d'accord|je suis là|je suis toujours là|c'est ce que je pensais",
      "c'est ce que je me disais|c'est mieux|encore mieux|c'est encore mieux|je comprends mieux",
      "ça m'aide|ça aide|ça m'aide beaucoup|ça m'aide bien|ah quand même|quand même|ça alors|bien joué|ah bien joué|c'est pour ça|ah c'est pour ça",
      "voilà pourquoi|ah dis donc|eh ben|eh bien dites donc|tiens tiens|tiens donc|mince alors|la vache|quelle histoire|bonne nouvelle|je m'en doutais bien",
      "je me disais aussi|je me disais bien|je m'en souviens|ça me revient|ça me rassure|me voilà rassuré|me voilà rassurée|ça roule|ça se tient|bien noté",
      "bien reçu|je suis content|je suis contente|quel dommage|c'est dommage|quelle idée|voyez vous ça|rien que ça|qui l'eût cru|comme quoi|bien fait|bien vu",
      'bien dit',
      "comme je pensais|comme je le pensais|comme prévu|ça me va|ça me va bien|ça me convient|je le savais|je m'y attendais|à ce point|c'est pas vrai|on n'arrête pas le progrès",
      "c'est quelque chose|pile poil|ça m'enlève un poids|un poids en moins|c'est ce qu'on m'a dit|c'est ce que j'ai entendu",
      "le pauvre|la pauvre|les pauvres|on aura tout vu|on croit rêver|je n'en reviens pas|j'en reviens pas|j'y crois pas|je n'y crois pas",
      "je le crois pas|c'est pas croyable|pas croyable|quelle galère|à qui le dites-vous|à qui le dis-tu|je connais ça|je connais",
      "je sais ce que c'est|ça ne m'étonne pas|ça m'étonne pas|ça me surprend pas|je l'ignorais|je ne m'y attendais pas|qui l'aurait cru",
      "qui aurait cru|ça se fête|bien sûr que oui|y a pas de quoi|comme par hasard|c'est la vie|ainsi va la vie|que voulez-vous|que veux-tu",
      "on n'y peut rien|il était temps|c'est toujours ça|tout va bien alors|vous m'en direz tant|plutôt bien|plutôt pas mal",
    ),
    shapes: listed(
      "quel *|quelle *|quels *|quelles *|quel * *|quelle * *|comme c'est *|que c'est *|c'est * ça|c'est drôlement *|c'est vraiment *",
      "c'est tellement *|c'est si *|c'est hyper *|c'est super *|c'est *ant|c'est *eux|*issime|pauvre *|quelle belle *|quel beau *|ça me paraît *",
      "ça me semble *|ça paraît *|ça semble *|ça a l'air *|ça c'est *|me voilà *|belle *|beau *|sacrée *|sacré *|wow …|waouh …|ouah …|oh la vache …",
      'la vache …|mon dieu …|mince …|zut …|ça alors …|oh là là …',
    ),
    telling: spaced(
      'heure heures jour jours date dates prix numéro nom adresse couleur taille type genre moment mois année horaire horaires train trains chambre',
      'eux étage ville bureau rue code service agence modèle formule âge est sont était sorte quai gare vol compte site magasin hôtel documents',
      'pièces quoi combien où qui comment quand pas non plus faux fausse erreur loin cher chère tard tôt long longue court petit grand trop urgent',
      'important possible impossible gratuit cassé fermé complet annulé moi lui elle mon ma mes le la les un une des du de pour avec sans dans sur à',
      'au demain hier lundi mardi mercredi jeudi vendredi samedi dimanche matin soir maintenant après avant autre bon suivant mauvais mauvaise déjà',
      "encore je j'ai vous il on ne attendez mais et ou si puis c'est ça payé payant restant suffisant affreux horrible nul honteux",
      'formulaire assurance abonnement contrat compagnie entreprise société facture carte lien mot banque tarif option produit pièce livraison délai',
      'frais montant somme commande dossier médecin docteur médicament appareil version mode moyen',
    ),
  },
  goodbyes: listed(
    'au revoir|merci|merci beaucoup|merci bien|bonne journée|bonne soirée|bonne fin de journée|à bientôt|à la prochaine|bye|ciao|salut',
    'merci à vous|merci à vous aussi|vous aussi|à vous aussi|à vous de même|de même|également|pareillement|au revoir madame|au revoir monsieur',
  ),
  urgent: spaced(
    'non arrête arrêtez attends attendez stop quoi qui quand où pourquoi comment quel quelle pardon',
  ),
  hesitations: spaced(
    'euh heu eum hum hmm ben bah et ou mais donc car parce que comme le la les un une des du de au aux à',
    'dans sur avec pour par chez entre vers mon ma mes notre nos votre vos son sa ses ce cet cette ces',
    "je j'ai c'est est sont suis dont très",
  ),
  doubtful: spaced(
    "alors puis enfin voilà là bien tu il elle on nous vous y en ça ne pas même si quand qui sans plus aussi peut-être plutôt d'abord",
  ),
  leadingEnd: undefined,
  begun: listed(
    "je voudrais|j'aimerais|je souhaite|je souhaiterais|je veux|je cherche|je suis|j'ai|j'ai besoin de|je m'appelle|mon nom est|mon numéro est|c'est le",
    'est-ce que|pouvez-vous|pourriez-vous|avez-vous|puis-je|peut-on|je pense|je crois|je pense que|parce que|il y a',
    "d'un autre côté|d'un côté|tout d'abord|par exemple|pour être honnête|autrement dit|dans mon cas|si possible|le problème c'est|la question c'est|ce qui se passe c'est|à propos de|au niveau de",
  ),
  openings: listed(
    'alors|bon|ben|bah|eh bien|et bien|enfin|disons|donc|bon ben|bon alors|en fait|du coup|tu sais|vous savez',
    "tu vois|vous voyez|écoutez|écoute|et|mais|le|les|je m'appelle|mon nom est|moi c'est|mon numéro est|mon numéro c'est le",
  ),
  shortQuestions: listed(
    "jusqu'à quand|jusqu'à quelle heure|à partir de quand|depuis quand|pour quand|pour combien|à quelle heure|avec qui|pour qui|d'où|pourquoi pas|quoi d'autre|qui d'autre|lequel|laquelle|et après",
    'mais combien|et combien|mais quand|et quand|mais où|et où|mais comment|et comment',
  ),
  thinking: listed(
    "voyons|voyons voir|attendez|attends|attendez un instant|attendez une seconde|attendez un moment|attends une seconde|un instant|un instant s'il vous plaît|un moment|un moment s'il vous plaît|un petit instant|une seconde|une petite seconde|une minute",
    'deux secondes|deux minutes|laissez-moi voir|laissez-moi réfléchir|laissez-moi regarder|laissez-moi vérifier|laisse-moi voir|laisse-moi réfléchir|je réfléchis|je regarde|je vais regarder|je vais voir|je vérifie|je vais vérifier|je cherche|je dois chercher|je dois regarder|je dois vérifier',
    "il faut que je regarde|il faut que je cherche|il faut que je réfléchisse|je suis en train de chercher|que je regarde|comment dire|comment dirais-je|bonne question|c'est une bonne question|ne quittez pas|patientez",
    'attendez voir|attends voir|attendez que je regarde|attendez je regarde|attendez je cherche|que je réfléchisse|laissez-moi une seconde|laissez-moi un instant|comment je peux dire',
    'je vais chercher ma carte|je vais la chercher|je vais le chercher|je prends ma carte',
    "laissez-moi chercher|donnez-moi une seconde|donnez-moi un instant|j'ai besoin d'un instant|je l'ai quelque part",
    "où est-ce que je l'ai mis|où je l'ai mis|restez en ligne|je l'ai sur le bout de la langue|j'y suis presque|deux petites secondes",
    'je reviens|je reviens tout de suite',
    'laissez-moi réfléchir un peu|laissez-moi réfléchir un instant|comment vous dire',
  ),
  askingForTime: {
    moments: spaced('instant moment seconde secondes minute minutes patience patienter'),
    granting: spaced(
      'un une deux petit petite petites juste encore donnez-moi donne-moi laissez-moi vous pouvez pourriez ayez je peu de attendez attends',
    ),
    own: listed(
      "je dois|je vais|je prends|je cherche|je sors|je regarde|je demande|j'ouvre|j'attrape|je vérifie|je récupère|je suis|je me|il faut que|que je",
      "que j'ouvre|laissez-moi|laisse-moi|le temps de|je le|je la|je les",
      "le temps d'allumer|le temps d'ouvrir|le temps d'attraper|faut que je|faut que",
    ),
    looks: spaced(
      'chercher cherche regarder regarde vérifier vérifie trouver trouve retrouver retrouve consulter',
    ),
    takes: spaced(
      "d'allumer d'ouvrir d'attraper",
      "prendre prends prenne sortir sors sorte ouvrir ouvre j'ouvre attraper attrape j'attrape demander demande connecter connecte récupérer récupère",
      'allumer allume démarrer démarre monter monte descendre descends retourner retourne',
    ),
    things: spaced(
      "carte lunettes stylo crayon papier papiers passeport portefeuille lettre courrier mail e-mail courriel appli application l'application l'appli",
      "identité d'identité document documents facture agenda l'agenda calendrier notes dossier femme mari mère père chef collègue fils fille noter écran",
      "l'écran permis reçu",
      "l'étage étage bureau ordinateur l'ordinateur tiroir haut-parleur",
    ),
    after: spaced(
      "vite rapidement juste d'abord le la les ça cela un peu là je en train de dans mon ma mes",
      "ce cet cette à l'",
    ),
  },
  corrections: listed(
    'non pardon|pardon non|non excusez-moi|excusez-moi non|non attendez|non je veux dire|je veux dire|enfin non|ou plutôt|non plutôt|non désolé|je voulais dire',
  ),
  isLearned: true,
  numbers: {
    asked: String.raw`numéro|chiffre|référence|immatriculation|épele|épeler|lettre par lettre|courriel|e-?mail|mél\b|code postal|\b(?:code|pin|iban)\b`,
    spelled: String.raw`épel|epel|lettre par lettre`,
    counted: 'chiffres|caractères|lettres',
    values: spaced(
      'zéro un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf',
      'vingt vingt-et-un/vingt-un vingt-deux vingt-trois vingt-quatre vingt-cinq vingt-six vingt-sept vingt-huit vingt-neuf trente',
    ),
    digits: [],
    tens: spaced(
      'quarante cinquante soixante septante huitante octante nonante quatre-vingt quatre-vingts quatre-vingt-dix',
    ),
    pairs: [],
    double: ['double'],
    triple: ['triple'],
    between: spaced('et puis tiret moins point espace euh heu hum alors'),
    mailAsked: 'e-?mail|courriel|adresse électronique|mél\\b',
    joints: spaced('point tiret underscore'),
    ats: spaced('at arobase arobas arrobase'),
  },
  sentences: {
    abbreviations: spaced(
      'mr mm mme mlle dr prof st ste av bd tél env etc p no art cf janv févr avr juil sept oct nov déc',
    ),
    lastAbbreviations: ['etc'],
    openers: spaced(
      "je tu il elle nous vous ils elles ce c'est ça la le les voulez pouvez avez merci et mais si",
    ),
    leadsOn: spaced(
      'le la les une un des du et ou mais de au aux dans sur avec pour par que qui ce cette ces son sa ses votre vos est sont ne pas très',
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      "oui|ouais|bien sûr|d'accord|okay|ok|tout à fait|exactement|exact|absolument|allez-y|vas-y",
      "c'est ça|c'est bon|parfait|entendu|volontiers|certainement|ça marche|je confirme|faites-le",
    ),
    no: listed(
      'non|pas|jamais|arrêtez|arrête|stop|attendez|attends|annulez|annule|faux|laissez|laisse|aucun',
      'aucune|un instant|un moment',
      'bien sûr que non|certainement pas|absolument pas|sûrement pas|évidemment non|évidemment pas|bien évidemment que non|bien entendu que non',
    ),
    firmYes: listed('oui|bien sûr|absolument'),
    order: new RegExp(`^(?:${orders}|\\p{L}+ez)(?: |$)`, 'u'),
    told: undefined,
    accepts: listed(
      'ce serait très bien|ce serait très gentil|ce serait vraiment bien|ça serait très bien|ça serait gentil|cest bien|cest ce que je veux|évidemment',
      'je laccepte|je veux bien|je le veux|je voudrais bien|je voudrais ça|jaimerais bien|jaimerais ça|je le souhaite|je souhaite que vous le fassiez|ce serait bien',
      'ce serait parfait|ce serait super|ce serait gentil|ce serait formidable|ça serait bien|ça serait parfait|ça serait super|ça me va|ça me convient',
      'avec plaisir|je suis daccord|je suis sûr|je suis sûre|jaccepte|vous pouvez|vous pouvez y aller|vous pouvez le faire|faites donc|faites ça|faites|fais le',
      'fais ça|je vous en prie|je vous prie|si vous voulez bien|bonne idée|cest bien ça|cest exact|cest correct|cest parfait|très volontiers|procédez',
    ),
    wishes: listed('je voudrais|jaimerais|je veux|je souhaite'),
    courtesies: listed(
      'pour moi|merci de votre aide|oh|ah|hm|hmm',
      'euh|ben|bah|alors|sil vous plaît|sil te plaît|sil vous plait|sil te plait|merci|merci beaucoup|merci bien|merci à vous|madame|monsieur',
      "mademoiselle|c'est gentil|c'est très gentil|très bien|super|génial|formidable|bien",
    ),
    light: spaced('ça cest je le'),
    tellers: spaced('je jai jétais nous il elle on mon ma mes vous'),
    openers: spaced('le la les un une pour à dans avec de du des et aussi en'),
    hedges: spaced(
      'mais si peut sauf plutôt dabord après avant ou où seulement autre crois pense quoi quand pourquoi combien quel quelle qui changer',
      'sais comprends compris vois entends écoute savoir mappelle demander allô bonjour encore déjà toujours ici peutêtre probablement cependant espère suppose question répétez répète expliquez explique expliquezmoi dites dis ditesmoi écoutez relisez lisez oubliez parlez minute seconde',
    ),
    details: spaced(
      'deux trois quatre cinq six sept huit neuf dix onze douze vingt trente demi demie aujourdhui demain matin soir midi semaine prochain prochaine heures heure',
      'lundi mardi mercredi jeudi vendredi samedi dimanche personnes aussi',
    ),
    noRefusal: listed(
      'pas de problème|pas de souci|pourquoi pas|si ça ne vous dérange pas|pas dinconvénient|aucun problème|si vous voulez bien',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|annul|résili|resili)/u,
        said: listed(
          'annulez|annule|annuler|annulez ça|annule ça|résiliez|résilie|résilier|décommandez|décommander',
        ),
        clear: listed(
          "annulez-le|annulez-la|annulez-les|annule-le|annule-la|veuillez annuler|vous pouvez annuler|annulez s'il vous plaît|s'il vous plaît annulez|annulez s'il vous plait|s'il vous plait annulez|résiliez-le|résiliez-la",
        ),
      },
      {
        tool: /(?:^| )(?:stop|arret|arrêt|paus)/u,
        said: listed('arrêtez|arrête|arrêter|stop'),
        clear: listed('arrêtez-le|arrêtez-la|veuillez arrêter'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|supprim|effac)/u,
        said: listed('supprimez|supprime|supprimer|effacez|efface|effacer'),
        clear: listed(
          "supprimez-le|supprimez-la|supprimez-les|veuillez supprimer|effacez-le|effacez-la|supprimez s'il vous plaît|supprimez s'il vous plait",
        ),
      },
    ],
  },
};
